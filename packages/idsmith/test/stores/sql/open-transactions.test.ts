import { type LeaseRecord, type SequenceStore, StoreError } from 'idsmith';
import Libsql from 'libsql';
import { createConnection, createPool, type Pool as MysqlPool } from 'mysql2/promise';
import { Client, Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeWith, type StoreServer, shared } from '#services';
import { mysqlStore } from '../../../src/stores/mysql/store.ts';
import { withLiterals } from '../../../src/stores/postgres/session.ts';
import { postgresStore } from '../../../src/stores/postgres/store.ts';
import { sqliteStore } from '../../../src/stores/sqlite/store.ts';
import type { Store } from '../../../src/stores/store.ts';

const RECORD: LeaseRecord = { id: 0, owner: 'a', epoch: 1, fence: 1000, expiresAt: 2000, label: 'host 1' };

/** Every way to change something, each of which a rollback would undo. */
const CHANGES: [what: string, change: (store: Store, name: string) => Promise<unknown>][] = [
  ['allocating', (store, name) => store.allocate(name, 1)],
  ['giving back', async (store, name) => store.giveBack!(name, await tailOf(store, name))],
  ['altering', (store, name) => store.alterSequence(name, { blockSize: 7 })],
  ['defining', (store, name) => store.defineSequence({ name: `${name} again` })],
  ['removing', (store, name) => store.removeSequence(name)],
  ['swapping a lease', (store, name) => store.swapLease(name, RECORD, { ...RECORD, epoch: 2 })],
  ['putting a lease', (store, name) => store.swapLease(name, undefined, { ...RECORD, id: 1 })],
];

/** Whatever is at the end of the row. */
async function tailOf(store: SequenceStore, name: string) {
  const { next } = await store.describeSequence(name);
  return tails.get(name) ?? { first: next - 1n, step: 1, count: 1 };
}
const tails = new Map<string, Awaited<ReturnType<SequenceStore['allocate']>>>();

/** Where a store is on a connection that somebody has left inside a transaction. */
interface Subject {
  /** A store whose connections are well. */
  readonly well: Store;
  /** A store on one connection which `spoil` has been run on, and what ends the transaction without a trace. */
  spoilt(spoil: string): Promise<{ store: Store; rollback(): Promise<unknown>; close(): Promise<unknown> }>;
}

function cases(ways: readonly string[], subject: () => Subject): void {
  describe.each(ways)('left after %s', (way) => {
    it.each(CHANGES)('is not used for %s', async (_what, change) => {
      const { well, spoilt } = subject();
      const name = `spoilt ${crypto.randomUUID()}`;
      await well.defineSequence({ name, blockSize: 10 });
      await well.swapLease(name, undefined, RECORD);
      tails.set(name, await well.allocate(name, 1));
      const [before, leases] = [await well.describeSequence(name), await well.listLeases(name)];
      const { store, rollback, close } = await spoilt(way);
      const failure = await change(store, name).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(StoreError);
      expect(failure).toMatchObject({ reason: 'IN_TRANSACTION' });
      expect((failure as Error).message).toMatch(/inside an open transaction.* give the store a pool/);
      // Nobody has to wait for a row that was changed in vain.
      expect(await well.allocate(name, 1)).toMatchObject({ first: 11n });
      await rollback();
      expect(await well.describeSequence(name)).toEqual({ ...before, next: 21n });
      expect(await well.listLeases(name)).toEqual(leases);
      await close();
    });
  });
}

await describeWith(['postgres'], 'a connection of PostgreSQL', () => {
  let server: StoreServer;
  let pool: Pool;
  let subject: Subject;
  beforeAll(async () => {
    server = await shared('postgres');
    pool = new Pool({ connectionString: server.url });
    pool.on('error', () => {});
    subject = {
      well: postgresStore(pool),
      async spoilt(spoil) {
        const client = new Client({ connectionString: server.url });
        client.on('error', () => {});
        await client.connect();
        const store = postgresStore(client);
        await store.listSequences();
        await store.listLeases('any');
        await client.query(spoil);
        return { store, rollback: () => client.query('ROLLBACK'), close: () => client.end() };
      },
    };
  });
  afterAll(async () => {
    await pool?.end();
    await server?.stop();
  });

  cases(
    ['BEGIN', 'BEGIN; SELECT 1', 'BEGIN ISOLATION LEVEL REPEATABLE READ', 'BEGIN; SAVEPOINT s'],
    () => subject,
  );

  it('of a pool is refused as long as it is left so, and works afterwards', async () => {
    const small = new Pool({ connectionString: server.url, max: 1 });
    small.on('error', () => {});
    const store = postgresStore(small);
    await store.defineSequence({ name: 'pooled', blockSize: 10 });
    const client = await small.connect();
    await client.query('BEGIN');
    client.release();
    await expect(store.allocate('pooled', 1)).rejects.toThrow(StoreError);
    await small.query('ROLLBACK');
    expect(await store.allocate('pooled', 1)).toMatchObject({ first: 1n });
    await small.end();
  });

  it('is not used to make tables, which would be gone after a rollback', async () => {
    await pool.query('CREATE SCHEMA untouched');
    const client = new Client({ connectionString: server.url, options: '-c search_path=untouched' });
    await client.connect();
    const store = postgresStore(client);
    await client.query('BEGIN');
    for (const call of [() => store.listSequences(), () => store.listLeases('x')])
      await expect(call()).rejects.toThrow(/inside an open transaction/);
    await client.query('ROLLBACK');
    await store.defineSequence({ name: 'x' });
    expect(await store.swapLease('x', undefined, RECORD)).toBe(true);
    await client.end();
  });

  it('of a driver that sends every statement in parts is served without the check', async () => {
    const store = postgresStore({
      query: (text, values) => pool.query({ text, values, queryMode: 'extended' } as never),
    });
    await store.defineSequence({ name: 'in parts', blockSize: 10 });
    expect(await store.allocate('in parts', 1)).toMatchObject({ first: 1n });
    expect(await store.giveBack!('in parts', await tailOf(store, 'in parts'))).toBe(false);
    expect(await store.swapLease('in parts', undefined, RECORD)).toBe(true);
  });

  it('keeps text as it is, whatever the rules for backslashes', async () => {
    const label = `\\' "; DROP TABLE idsmith_leases; -- $1 Ü 🔑 \n`;
    for (const setting of ['on', 'off']) {
      const client = new Client({
        connectionString: server.url,
        options: `-c standard_conforming_strings=${setting} -c escape_string_warning=off`,
      });
      await client.connect();
      const store = postgresStore(client);
      const record = { ...RECORD, owner: label, label };
      expect(await store.swapLease(`text \\ ${setting}`, undefined, record)).toBe(true);
      expect(await store.listLeases(`text \\ ${setting}`)).toEqual([record]);
      await store.defineSequence({ name: `\\ $2 ${setting}` });
      expect((await store.allocate(`\\ $2 ${setting}`, 1)).first).toBe(1n);
      await client.end();
    }
    expect(() => withLiterals('SELECT $1', ['a\0b'])).toThrow(RangeError);
  });
});

await describeWith(['mariadb'], 'a connection of MariaDB', () => {
  let server: StoreServer;
  let pool: MysqlPool;
  let subject: Subject;
  beforeAll(async () => {
    server = await shared('mariadb');
    pool = createPool({ uri: server.url });
    subject = {
      well: mysqlStore(pool),
      async spoilt(spoil) {
        const connection = await createConnection(server.url);
        const store = mysqlStore(connection);
        await store.listSequences();
        await store.listLeases('any');
        await connection.query(spoil);
        return { store, rollback: () => connection.query('ROLLBACK'), close: () => connection.end() };
      },
    };
  });
  afterAll(async () => {
    await pool?.end();
    await server?.stop();
  });

  cases(['BEGIN', 'START TRANSACTION WITH CONSISTENT SNAPSHOT', 'SET autocommit = 0'], () => subject);

  it.each(['BEGIN', 'SET autocommit = 0'])(
    'of a pool, left after %s, makes room for another',
    async (way) => {
      const small = createPool({ uri: server.url, connectionLimit: 1 });
      const store = mysqlStore(small);
      const name = `pooled ${way}`;
      await store.defineSequence({ name, blockSize: 10 });
      const connection = await small.getConnection();
      await connection.query(way);
      connection.release();
      await expect(store.allocate(name, 1)).rejects.toThrow(StoreError);
      expect(await store.allocate(name, 1)).toMatchObject({ first: 1n });
      await small.end();
    },
  );

  it('is not used where the server tells of the transaction only in its answer', async () => {
    const connection = await createConnection(server.url);
    // MySQL, which has no variable for it, skips the comment that asks for it.
    const store = mysqlStore({
      query: (sql, values) => connection.query(sql.replaceAll(/\/\*M!.*?\*\//g, ''), values),
    });
    await store.defineSequence({ name: 'answer', blockSize: 10 });
    for (const [what, change] of CHANGES) {
      if (what === 'giving back' || what === 'swapping a lease') continue;
      await connection.query('BEGIN');
      await expect(change(store, 'answer')).rejects.toThrow(/inside an open transaction/);
      await connection.query('ROLLBACK');
    }
    expect(await store.allocate('answer', 1)).toMatchObject({ first: 1n });
    await connection.end();
  });

  it('is not used to make tables, which would end the transaction', async () => {
    const connection = await createConnection(server.url);
    await connection.query('CREATE DATABASE untouched');
    await connection.query('USE untouched');
    await connection.query('BEGIN');
    const store = mysqlStore(connection);
    await expect(store.listSequences()).rejects.toThrow(/autocommit = 0 or an open transaction/);
    await expect(store.listLeases('x')).rejects.toThrow(/autocommit = 0 or an open transaction/);
    expect((await connection.query('SHOW TABLES'))[0]).toEqual([]);
    await connection.end();
  });
});

describe('a connection of SQLite', () => {
  let db: InstanceType<typeof Libsql>;
  beforeEach(() => {
    db = new Libsql(':memory:');
  });

  it.each(CHANGES)('that is inside a transaction is not used for %s', async (_what, change) => {
    const store = sqliteStore(db);
    const name = 'spoilt';
    await store.defineSequence({ name, blockSize: 10 });
    await store.swapLease(name, undefined, RECORD);
    tails.set(name, await store.allocate(name, 1));
    const before = await store.describeSequence(name);
    db.exec('BEGIN');
    await expect(change(store, name)).rejects.toThrow(/within a transaction/);
    db.exec('ROLLBACK');
    expect(await store.describeSequence(name)).toEqual(before);
    expect(await store.listLeases(name)).toEqual([RECORD]);
  });
});
