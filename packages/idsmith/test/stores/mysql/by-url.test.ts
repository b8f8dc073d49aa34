import { gapless } from 'idsmith';
import { leaseStoreCases, sequenceStoreCases } from 'idsmith/testing';
import { createPool, type Pool } from 'mysql2/promise';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeAt } from '#services';
import { openStore } from '../../../src/stores/open.ts';
import type { Store } from '../../../src/stores/store.ts';
import { tableCases } from '../sql/table-cases.ts';
import { loadCases } from '../support/load-cases.ts';
import { sharedMysql } from './support/shared-mysql.ts';

// A MySQL server of your own. The user needs the right to create and drop databases: each test has databases of its own, with random
// names, and touches no other.
describeAt('MYSQL_URL', 'The MySQL store', (url) => {
  const databases: string[] = [];
  let admin: Pool;
  let store: Store;

  async function newDatabase(): Promise<string> {
    const name = `idsmith_test_${crypto.randomUUID().replaceAll('-', '')}`;
    await admin.query(`CREATE DATABASE ${name}`);
    databases.push(name);
    const own = new URL(url);
    own.pathname = `/${name}`;
    return own.href;
  }

  beforeAll(async () => {
    admin = createPool({ uri: url });
    store = await openStore(await newDatabase());
  });
  afterAll(async () => {
    await store?.close();
    for (const name of databases) await admin.query(`DROP DATABASE ${name}`);
    await admin?.end();
  });

  for (const { name, run } of leaseStoreCases(() => store)) it(name, run);
  for (const { name, run } of sequenceStoreCases(() => store)) it(name, run);
  const open = async () => sharedMysql(await newDatabase());
  tableCases(open);
  loadCases(open);

  it('takes gapless numbers, and gives them back with a rollback', async () => {
    const uri = await newDatabase();
    const own = await openStore(uri);
    await own.defineSequence({ name: 'invoices' });
    const pool = createPool({ uri });
    const connection = await pool.getConnection();
    const numbers: bigint[] = [];
    for (const end of ['commit', 'rollback', 'commit'] as const) {
      await connection.beginTransaction();
      numbers.push(await gapless('invoices', connection));
      await connection[end]();
    }
    expect(numbers).toEqual([1n, 2n, 2n]);
    connection.release();
    await pool.end();
    await own.close();
  });
});
