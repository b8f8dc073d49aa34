import { readFileSync } from 'node:fs';
import { connect } from 'idsmith/connect';
import { leaseStoreCases, sequenceStoreCases } from 'idsmith/testing';
import { uuid7 } from 'idsmith/uuid7';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith, type ServerProcess, startPostgres } from '#services';
import { postgresStore } from '../../packages/idsmith/src/stores/postgres/store.ts';
import { runChaos, showChaosReport } from '../../packages/verify/src/runs/chaos.ts';
import { passes } from '../../packages/verify/test/support/healthy.ts';
import { CHAOS_STORES } from '../../packages/verify/test/support/private-stores.ts';

await describeWith(['postgres'], 'PostgreSQL 18', () => {
  let server: ServerProcess;
  let pool: Pool;
  beforeAll(async () => {
    server = await startPostgres();
    pool = new Pool({ connectionString: server.url });
    pool.on('error', () => {});
  });
  afterAll(async () => {
    await pool?.end();
    await server?.stop();
  });

  it('is what runs', async () => {
    const { rows } = await pool.query('SHOW server_version');
    expect(rows[0].server_version).toMatch(/^18\./);
  });

  describe.each(['read committed', 'repeatable read', 'serializable'])('at isolation level %s', (level) => {
    let own: Pool;
    let store: ReturnType<typeof postgresStore>;
    beforeAll(() => {
      const options = `-c default_transaction_isolation=${level.replace(' ', '\\ ')}`;
      own = new Pool({ connectionString: server.url, options });
      store = postgresStore(own);
    });
    afterAll(() => own?.end());
    for (const { name, run } of leaseStoreCases(() => store)) it(name, run);
    for (const { name, run } of sequenceStoreCases(() => store)) it(name, run);
  });

  it('keeps a series without gaps, with its log', async () => {
    const ids = await connect(server.url);
    const invoices = await ids.series('invoices', { format: 'INV-{n:4}', audit: true });
    const numbers = await Promise.all(Array.from({ length: 10 }, () => invoices.next()));
    expect(numbers.sort()).toEqual(
      Array.from({ length: 10 }, (_, i) => `INV-${String(i + 1).padStart(4, '0')}`),
    );
    await ids.close();
  });

  it('fills in ids by itself, as docs/column-defaults.md says', async () => {
    const page = readFileSync(new URL('../../docs/column-defaults.md', import.meta.url), 'utf8');
    const table = /^## The database itself$[\s\S]*?^```sql\n([\s\S]*?)^```$/m.exec(page)?.[1] as string;
    await pool.query(table);
    const insert = `INSERT INTO notes (body) VALUES ('one'), ('two') RETURNING id, number`;
    const { rows } = await pool.query(insert);
    expect(rows.map(({ number }) => number)).toEqual(['1', '2']);
    for (const { id } of rows) expect(uuid7.timeOf(id)).toBeInstanceOf(Date);
  });

  it('repeats no number while the server is killed and comes back', async () => {
    const seen: bigint[] = [];
    let isOver = false;
    const clients = Array.from({ length: 4 }, async () => {
      const ids = await connect(server.url);
      const numbers = await ids.sequence('killed', { define: { blockSize: 5 } });
      while (!isOver)
        await numbers.next().then(
          (id) => seen.push(id),
          () => new Promise((resolve) => setTimeout(resolve, 20)),
        );
      await ids.close().catch(() => undefined);
    });
    for (let kills = 0; kills < 3; kills++) {
      const before = seen.length;
      await expect.poll(() => seen.length).toBeGreaterThan(before + 100);
      await server.kill();
      await server.restart();
    }
    isOver = true;
    await Promise.all(clients);
    expect(new Set(seen).size).toBe(seen.length);
  });

  it('passes idsmith verify', () => passes(server.url));

  it('repeats no id in chaos, and goes on when faults are over', { timeout: 400_000 }, async () => {
    const report = await runChaos('postgres', CHAOS_STORES.postgres, { seed: 20_261_117 });
    expect(report.problems, showChaosReport(report)).toEqual([]);
    expect(report.ids).toBeGreaterThan(1000);
    console.log(showChaosReport(report));
  });
});
