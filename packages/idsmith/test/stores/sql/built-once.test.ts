import pg from 'pg';
import { afterEach, expect, it, vi } from 'vitest';
import { describeWith, shared } from '#services';
import type { SqlValue } from '../../../src/drivers/port.ts';
import { PostgresSession, postgresDriver } from '../../../src/stores/postgres/session.ts';
import { postgresStore } from '../../../src/stores/postgres/store.ts';
import { postgres } from '../../../src/stores/sql/dialect.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

await describeWith(['postgres'], 'The statement of an allocation', () => {
  it('is built once for many allocations of one size, and again for another size and another row', async () => {
    const { url } = await shared('postgres');
    const pool = new pg.Pool({ connectionString: url, max: 1 });
    const store = postgresStore(pool);
    await store.defineSequence({ name: 'orders', blockSize: 10 });
    // Every update asks the dialect once how to move the sequence.
    const built = vi.spyOn(postgres, 'moved');
    const allocate = async (count: number, blocks: number) => {
      built.mockClear();
      const firsts: bigint[] = [];
      for (let i = 0; i < count; i++) firsts.push((await store.allocate('orders', blocks)).first);
      return { firsts, built: built.mock.calls.length };
    };
    const firsts = Array.from({ length: 50 }, (_, i) => BigInt(1 + 10 * i));
    expect(await allocate(50, 1)).toEqual({ firsts, built: 1 });
    expect(await allocate(2, 3)).toEqual({ firsts: [501n, 531n], built: 1 });
    await store.alterSequence('orders', { next: 1001n });
    expect(await allocate(2, 3)).toEqual({ firsts: [1001n, 1031n], built: 1 });
    await pool.end();
  });

  it('has its values put into its text once', async () => {
    const { url } = await shared('postgres');
    const pool = new pg.Pool({ connectionString: url, max: 1 });
    await pool.query('CREATE TABLE counted (n int); INSERT INTO counted VALUES (0)');
    const run = new PostgresSession(postgresDriver(pool), 10_000).statements(async () => {});
    let read = 0;
    const one = {
      toString() {
        read++;
        return '1';
      },
    };
    const statement = {
      sql: `UPDATE counted SET n = n + $1 WHERE ${postgres.outsideTransaction} RETURNING n`,
      values: [one as unknown as SqlValue],
    };
    for (const n of [1, 2, 3]) {
      expect(
        await run(
          'counting',
          () => statement,
          (rows) => rows,
        ),
      ).toEqual([[n]]);
    }
    expect(read).toBe(1);
    await pool.end();
  });
});
