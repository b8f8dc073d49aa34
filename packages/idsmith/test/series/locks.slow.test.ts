import { StoreError } from 'idsmith';
import { connect } from 'idsmith/connect';
import { series } from 'idsmith/sql';
import { createPool } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { describeWith, type ServerProcess, startMariadb } from '#services';
import { mysqlStore } from '../../src/stores/mysql/store.ts';
import { gapless } from '../../src/stores/sql/gapless.ts';
import { DATABASES, type TestDatabase } from './databases.ts';

const PLAIN = { format: '{n:4}', tenants: true } as const;
const fresh = () => `series ${crypto.randomUUID()}`;

for (const [title, needs, start] of DATABASES.filter(([name]) => name !== 'SQLite'))
  await describeWith(needs, `The first number of a process in ${title}`, () => {
    let db: TestDatabase;
    beforeAll(async () => {
      db = await start();
    });
    afterAll(() => db?.end());

    /** A series that is known to its database, as two processes make it that have not used it yet. */
    const known = async () => {
      const ids = await connect(db.store);
      const name = fresh();
      await ids.series(name, PLAIN);
      vi.resetModules();
      const another = await import('../../src/sql/index.ts');
      return [series(name, PLAIN), another.series(name, PLAIN)] as const;
    };

    it('locks the counter of its tenant alone', async () => {
      const [here, there] = await known();
      const [a, b] = [await db.begin(), await db.begin()];
      expect(await here.next({ in: a.client, tenant: 'a' })).toBe('0001');
      expect(await there.next({ in: b.client, tenant: 'b' })).toBe('0001');
      await b.commit();
      const again = await db.begin();
      expect(await here.next({ in: again.client, tenant: 'b' })).toBe('0002');
      await Promise.all([a.commit(), again.commit()]);
    });

    it('meets nobody who uses two series in the opposite order for other tenants', async () => {
      const [[invoices, invoicesThere], [orders, ordersThere]] = [await known(), await known()];
      const [a, b] = [await db.begin(), await db.begin()];
      await invoices.next({ in: a.client, tenant: 'a' });
      await ordersThere.next({ in: b.client, tenant: 'b' });
      expect(
        await Promise.all([
          orders.next({ in: a.client, tenant: 'a' }),
          invoicesThere.next({ in: b.client, tenant: 'b' }),
        ]),
      ).toEqual(['0001', '0001']);
      await Promise.all([a.commit(), b.commit()]);
    });
  });

await describeWith(['mariadb'], 'A series in two databases of one server', () => {
  let server: ServerProcess;
  beforeAll(async () => {
    server = await startMariadb();
  });
  afterAll(() => server?.stop());

  it('locks no gap in one of them because the other one has the counter', async () => {
    const databaseOf = async (name: string) => {
      const admin = createPool(server.url);
      await admin.query(`CREATE DATABASE ${name}`);
      await admin.end();
      const url = new URL(server.url);
      url.pathname = `/${name}`;
      const pool = createPool(url.href);
      const store = mysqlStore(pool);
      await (await connect(store)).series('invoices', PLAIN);
      return pool;
    };
    const begun = async (pool: Awaited<ReturnType<typeof databaseOf>>) => {
      const connection = await pool.getConnection();
      await connection.beginTransaction();
      return connection;
    };
    const invoices = series('invoices', PLAIN);
    const [first, second] = [await databaseOf('first_tenant'), await databaseOf('second_tenant')];
    // Twice, so that the second transaction sees that the first one was committed.
    for (const _ of [1, 2])
      for (const tenant of ['a', 'b']) {
        const connection = await begun(first);
        await invoices.next({ in: connection, tenant });
        await connection.commit();
        connection.release();
      }
    const [a, b] = [await begun(second), await begun(second)];
    expect(await invoices.next({ in: a, tenant: 'a' })).toBe('0001');
    expect(await invoices.next({ in: b, tenant: 'b' })).toBe('0001');
    await Promise.all([a.commit(), b.commit()]);
    for (const connection of [a, b]) connection.release();
    await Promise.all([first.end(), second.end()]);
  });
});

await describeWith(['postgres'], 'A transaction of PostgreSQL that has failed', () => {
  let db: TestDatabase;
  beforeAll(async () => {
    db = await (DATABASES[0] as (typeof DATABASES)[0])[2]();
    await db.store.defineSequence({ name: 'numbers' });
  });
  afterAll(() => db?.end());

  it('is a StoreError of every call', async () => {
    const { client, rollback } = await db.begin();
    const { query } = client as { query(sql: string): Promise<unknown> };
    await expect(query.call(client, 'SELECT 1 / 0')).rejects.toThrow('division');
    const invoices = series(fresh(), { format: '{n:4}', audit: true });
    for (const call of [
      () => gapless('numbers', client),
      () => invoices.next({ in: client }),
      () => invoices.void('0001', 'why', { in: client }),
      () => invoices.list({ in: client }),
    ]) {
      const error = await call().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(StoreError);
      expect(error).toMatchObject({ cause: { code: '25P02' } });
    }
    await rollback();
  });
});

for (const [title, needs, start] of DATABASES)
  await describeWith(needs, `Tenants of any script in ${title}`, () => {
    let db: TestDatabase;
    beforeAll(async () => {
      db = await start();
    });
    afterAll(() => db?.end());

    it('have counters of their own up to 100 characters, in blocks and in transactions', async () => {
      const tenants = [
        '株'.repeat(26),
        '株'.repeat(27),
        '株'.repeat(100),
        '🧾'.repeat(100),
        `${'🧾'.repeat(99)}!`,
      ];
      const ids = await connect(db.store);
      const invoices = await ids.series(`${'x'.repeat(200)} ${crypto.randomUUID().slice(0, 8)}`, {
        ...PLAIN,
        audit: true,
      });
      for (const tenant of tenants) expect(await invoices.next({ tenant })).toBe('0001');
      const { client, commit } = await db.begin();
      for (const tenant of tenants) expect(await invoices.next({ tenant, in: client })).toBe('0002');
      await commit();
      for (const tenant of tenants) expect(await invoices.list({ tenant })).toHaveLength(2);
      await expect(invoices.next({ tenant: '株'.repeat(101) })).rejects.toThrow('1 to 100 characters');
      await ids.close();
    });
  });

describe('A counter', () => {
  it('keeps the name of its row', async () => {
    const ids = await connect('memory:');
    const invoices = await ids.series('invoices', PLAIN);
    await invoices.next({ tenant: '株'.repeat(26) });
    await invoices.next({ tenant: 'a'.repeat(100) });
    const names = (await ids.sequences.list()).map(({ name }) => name);
    expect(names).toEqual([
      'series:invoices',
      `series:invoices:${encodeURIComponent('株'.repeat(26))}:`,
      `series:invoices:${'a'.repeat(100)}:`,
    ]);
    await ids.close();
  });
});
