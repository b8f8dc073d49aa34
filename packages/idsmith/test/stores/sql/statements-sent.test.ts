import { gapless, series } from 'idsmith/sql';
import Database from 'libsql';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { describeWith, shared } from '#services';
import { mysqlStore } from '../../../src/stores/mysql/store.ts';
import { postgresStore } from '../../../src/stores/postgres/store.ts';
import { sqliteStore } from '../../../src/stores/sqlite/store.ts';
import type { Store } from '../../../src/stores/store.ts';

/** Writes down every message that is sent by `query` of a connection. */
function watch(connection: object, sent: string[]): void {
  const { query } = connection as { query(...args: unknown[]): unknown };
  Object.assign(connection, {
    query(this: object, ...args: unknown[]) {
      const [text] = args as [string | { sql?: string; text?: string }];
      sent.push(typeof text === 'string' ? text : String(text.sql ?? text.text));
      return query.apply(this, args);
    },
  });
}

/** The messages of each operation, after the first use of everything. */
async function messagesOf(store: Store, sent: string[]): Promise<Record<string, number>> {
  await store.defineSequence({ name: 'orders' });
  await store.allocate('orders', 1);
  const free = { id: 1, owner: null, epoch: 0, fence: 0, expiresAt: 0, label: '' };
  const held = { ...free, owner: 'a', epoch: 1, fence: 10, expiresAt: 10 };
  await store.swapLease('nodes', undefined, free);
  const counts: Record<string, number> = {};
  const count = async (name: string, work: () => Promise<unknown>) => {
    sent.length = 0;
    await work();
    counts[name] = sent.length;
  };
  await count('allocate', () => store.allocate('orders', 1));
  await count('acquire', () => store.swapLease('nodes', free, held));
  await count('renew', () => store.swapLease('nodes', held, { ...held, fence: 20, expiresAt: 20 }));
  await count('now', async () => store.now?.());
  // The time comes with the lineage, and a claim compares the lineage: a renewal is a moment and a swap, as it was a time and a swap before.
  await count('moment', async () => store.moment?.('nodes'));
  await count('claim', async () =>
    store.claimLease?.('nodes', undefined, { ...held, id: 2 }, { ...free, id: -1 }),
  );
  return counts;
}

/** The messages of a number with a log, in a transaction of the store's own, after the first one. */
async function logged(store: Store, sent: string[]): Promise<number> {
  const receipts = series('receipts', { format: '{n}', audit: true, store });
  await receipts.next();
  sent.length = 0;
  await receipts.next();
  return sent.length;
}

/** The messages of each number in a transaction of the caller's: two of a series, and two of `gapless`. */
async function inTransaction(client: object, sent: string[]): Promise<number[]> {
  const invoices = series('invoices', { format: '{yyyy}-{n}', period: 'year' });
  const counts: number[] = [];
  for (const take of [
    () => invoices.next({ in: client }),
    () => invoices.next({ in: client }),
    () => gapless('orders', client),
    () => gapless('orders', client),
  ]) {
    sent.length = 0;
    await take();
    counts.push(sent.length);
  }
  return counts;
}

const ONE_EACH = { allocate: 1, acquire: 1, renew: 1, now: 1, moment: 1, claim: 1 };

await describeWith(['postgres'], 'Messages to PostgreSQL', () => {
  it('are one an operation, and two for a number in a transaction', async () => {
    const { url } = await shared('postgres');
    const sent: string[] = [];
    const pool = new pg.Pool({ connectionString: url, max: 2 });
    pool.on('connect', (client) => watch(client, sent));
    const store = postgresStore(pool);
    expect(await messagesOf(store, sent)).toEqual(ONE_EACH);
    await series('invoices', { format: '{yyyy}-{n}', period: 'year', store }).next();
    const client = await pool.connect();
    await client.query('BEGIN');
    // The first number of a process asks for the time, to know the period. Then the lock, and the write, which reads the format.
    expect(await inTransaction(client, sent)).toEqual([3, 2, 2, 2]);
    await client.query('ROLLBACK');
    client.release();
    // BEGIN and two settings, the lock, the write, the log and COMMIT. That the store has not gone back is seen in the same statements.
    expect(await logged(store, sent)).toBe(7);
    await pool.end();
  });
});

await describeWith(['mariadb'], 'Messages to MariaDB', () => {
  it('are one an operation, and three for a number in a transaction', async () => {
    const { url } = await shared('mariadb');
    const sent: string[] = [];
    const pool = createPool({ uri: url, connectionLimit: 2 });
    pool.on('connection', (connection) => watch(connection, sent));
    const store = mysqlStore(pool);
    expect(await messagesOf(store, sent)).toEqual(ONE_EACH);
    await series('invoices', { format: '{yyyy}-{n}', period: 'year', store }).next();
    const connection = await pool.getConnection();
    await connection.beginTransaction();
    // The first number of a process asks for the time twice, for the transaction, and for the table (two); a row that may be missing is
    // made under a lock of its name (three). Then the lock, the write, and a look at it and at the format.
    expect(await inTransaction(connection, sent)).toEqual([11, 3, 3, 3]);
    await connection.rollback();
    connection.release();
    expect(await logged(store, sent)).toBe(7);
    await pool.end();
  });
});

describe('Messages to SQLite', () => {
  it('are two for a transaction, one for its lock, and two for a number', async () => {
    const db = new Database(':memory:');
    await sqliteStore(db).defineSequence({ name: 'orders' });
    db.exec('BEGIN');
    const sent: string[] = [];
    const client = {
      dialect: 'sqlite',
      query: async (text: string, values: readonly string[]) => {
        sent.push(text);
        const statement = db.prepare(text);
        if (statement.reader) return statement.all(...values);
        statement.run(...values);
        return [];
      },
    };
    expect((await inTransaction(client, sent)).slice(1)).toEqual([5, 5, 5]);
    db.close();
  });
});
