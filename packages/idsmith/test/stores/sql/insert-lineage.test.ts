import { expect, it } from 'vitest';
import { describeWith } from '#services';
import { defineRow } from '../../../src/sequence/blocks.ts';
import { DIALECTS, type RunStatement } from '../../../src/stores/sql/dialect.ts';
import { SqlLineage } from '../../../src/stores/sql/lineage.ts';
import { sqlRows } from '../../../src/stores/sql/sequences.ts';
import type { SqlAccess } from '../../../src/stores/store.ts';
import { DATABASES } from '../../series/databases.ts';

for (const [name, needs, start] of DATABASES)
  await describeWith(needs, `A row that is inserted in ${name}`, () => {
    it('is refused if the database has another lineage than the row', async () => {
      const db = await start();
      await db.store.listSequences();
      await (db.store.sql as SqlAccess).transact(async (executor) => {
        const run: RunStatement = async (_, build, make) => {
          const { sql, values } = build();
          return make(await executor.query(sql, values));
        };
        const lineage = new SqlLineage(() => "'a'");
        const rows = sqlRows(DIALECTS[executor.dialect], { run, lineage, isInside: true });
        const isThere = async () => (await rows.read('orders')) !== undefined;
        const row = defineRow({ name: 'orders' }, 1);
        await rows.insert({ ...row, lineage: 'b' });
        expect(await isThere()).toBe(false);
        await rows.insert({ ...row, lineage: 'a' });
        expect(await isThere()).toBe(true);
      });
      await db.end();
    });
  });
