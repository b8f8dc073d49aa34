import { InvalidOptionError, Sequences, StoreError } from 'idsmith';
import { type SqlAdapter, series } from 'idsmith/sql';
import { leaseStoreCases, sequenceStoreCases } from 'idsmith/testing';
import Libsql from 'libsql';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith, type ServiceName, shared } from '#services';
import { mysqlStore } from '../../../src/stores/mysql/store.ts';
import { postgresStore } from '../../../src/stores/postgres/store.ts';
import { inTurn } from '../../../src/stores/sql/session.ts';
import { sqliteStore } from '../../../src/stores/sqlite/store.ts';
import type { DisposableStore } from '../../../src/stores/store.ts';

type Query = SqlAdapter['query'];

/** A database, and the two ways to it that a program has. */
interface Database {
  readonly dialect: SqlAdapter['dialect'];
  /** Sends a statement on any connection of a pool. */
  readonly anywhere: Query;
  /** Takes a connection. */
  connect(): Promise<{ query: Query; release(): unknown }>;
  end(): Promise<unknown>;
}

async function postgres(): Promise<Database> {
  const server = await shared('postgres');
  const pools = [1, 2].map(() => new pg.Pool({ connectionString: server.url }).on('error', () => {}));
  const [pool, own] = pools as [pg.Pool, pg.Pool];
  const queryOf =
    (client: pg.Pool | pg.PoolClient): Query =>
    async (text, values) =>
      (await client.query(text, [...values])).rows;
  return {
    dialect: 'postgres',
    anywhere: queryOf(pool),
    async connect() {
      const client = await own.connect();
      return { query: queryOf(client), release: () => client.release() };
    },
    end: async () => {
      await Promise.all(pools.map((each) => each.end()));
      await server.stop();
    },
  };
}

async function mariadb(): Promise<Database> {
  const server = await shared('mariadb');
  const [pool, own] = [createPool({ uri: server.url }), createPool({ uri: server.url })];
  const rowsOf = ([rows]: [unknown, unknown]) => (Array.isArray(rows) ? rows : []);
  return {
    dialect: 'mysql',
    anywhere: async (text, values) => rowsOf(await pool.query(text, [...values])),
    async connect() {
      const connection = await own.getConnection();
      const query: Query = async (text, values) => rowsOf(await connection.query(text, [...values]));
      return { query, release: () => connection.release() };
    },
    end: async () => {
      await Promise.all([pool.end(), own.end()]);
      await server.stop();
    },
  };
}

const STORES = { postgres: postgresStore, mysql: mysqlStore, sqlite: undefined as never };

/** Runs work between BEGIN and COMMIT. */
async function between(
  query: Query,
  dialect: SqlAdapter['dialect'],
  work: (tx: SqlAdapter) => Promise<void>,
) {
  await query('BEGIN', []);
  try {
    await work({ dialect, query });
    await query('COMMIT', []);
  } catch (error) {
    await query('ROLLBACK', []);
    throw error;
  }
}

/** An adapter as the docs show it: a pool, and a connection for each transaction. */
function pooled({ dialect, anywhere, connect }: Database) {
  return {
    dialect,
    query: anywhere,
    async transaction(work) {
      const { query, release } = await connect();
      await between(query, dialect, work).finally(release);
    },
  } satisfies SqlAdapter;
}

const SERVERS: [service: ServiceName, start: () => Promise<Database>][] = [
  ['postgres', postgres],
  ['mariadb', mariadb],
];

for (const [service, start] of SERVERS)
  await describeWith([service], `a store on an adapter of the user's own, on ${service}`, () => {
    let database: Database;
    let adapter: ReturnType<typeof pooled>;
    let store: DisposableStore;
    const storeOn = (given: SqlAdapter, options = {}) => STORES[database.dialect](given, options);
    beforeAll(async () => {
      database = await start();
      adapter = pooled(database);
      store = storeOn(adapter);
    });
    afterAll(() => database?.end());

    for (const { name, run } of leaseStoreCases(() => store)) it(name, run);
    for (const { name, run } of sequenceStoreCases(() => store)) it(name, run);

    it('has numbers of a series with a log', async () => {
      const invoices = await series('printed', {
        format: 'P-{n:4}',
        period: 'none',
        timeZone: 'UTC',
        audit: true,
        store,
      });
      expect([await invoices.next(), await invoices.next()]).toEqual(['P-0001', 'P-0002']);
      expect(await invoices.list()).toHaveLength(2);
    });

    it('needs transactions, and the right database', () => {
      const { transaction: _transaction, ...without } = adapter;
      expect(() => storeOn(without)).toThrow(InvalidOptionError);
      expect(() => storeOn(without)).toThrow('must have a method transaction(work)');
      expect(() => storeOn({ ...adapter, dialect: 'sqlite' })).toThrow(
        `dialect must be "${database.dialect}", not "sqlite"`,
      );
    });

    it('changes nothing on an adapter inside a transaction, with savepoints for transactions', async () => {
      await store.defineSequence({ name: 'outer', blockSize: 10 });
      const { query, release } = await database.connect();
      await query('BEGIN', []);
      let isOpen = true;
      const inside = storeOn({
        dialect: database.dialect,
        query,
        async transaction(work) {
          await query(isOpen ? 'SAVEPOINT s' : 'BEGIN', []);
          await work({ dialect: database.dialect, query });
          await query(isOpen ? 'RELEASE SAVEPOINT s' : 'COMMIT', []);
        },
      });
      await expect(inside.allocate('outer', 1)).rejects.toThrow(StoreError);
      await query('ROLLBACK', []);
      isOpen = false;
      expect(await inside.allocate('outer', 1)).toMatchObject({ first: 1n });
      isOpen = true;
      await query('BEGIN', []);
      await expect(inside.allocate('outer', 1)).rejects.toThrow('inside an open transaction');
      await query('ROLLBACK', []);
      expect(await store.allocate('outer', 1)).toMatchObject({ first: 11n });
      await release();
    });

    it('gives no number twice on one connection that stores share, whose transactions fail', async () => {
      const connection = await database.connect();
      const query: Query = (text, values) => inTurn(connection, () => connection.query(text, values));
      let transactions = 0;
      const single: SqlAdapter = {
        dialect: database.dialect,
        query,
        transaction: (work) =>
          between(query, database.dialect, async (tx) => {
            await work(tx);
            if (++transactions % 3 === 0) throw new Error('every third is undone');
          }),
      };
      const stores = [storeOn(single), storeOn(single)];
      await stores[0]!.defineSequence({ name: 'single', blockSize: 1 });
      const calls = Array.from({ length: 30 }, (_, i) => stores[i % 2]!.allocate('single', 1));
      const taken = (await Promise.allSettled(calls)).filter((call) => call.status === 'fulfilled');
      const firsts = taken.map(({ value }) => value.first);
      expect(new Set(firsts).size).toBe(firsts.length);
      expect((await store.describeSequence('single')).next).toBe(BigInt(firsts.length) + 1n);
      await connection.release();
    });

    it('believes no transaction that keeps its failure to itself, or does not run its work', async () => {
      await store.defineSequence({ name: 'silent', blockSize: 1 });
      const silent = storeOn({
        ...adapter,
        transaction: (work) => adapter.transaction(work).catch(() => {}),
      });
      await silent.listSequences();
      const failing: SqlAdapter = {
        ...adapter,
        transaction: (work) =>
          adapter
            .transaction((tx) => work({ ...tx, query: () => Promise.reject(new Error('away')) }))
            .catch(() => {}),
      };
      await expect(storeOn(failing).allocate('silent', 1)).rejects.toThrow('away');
      const idle = storeOn({ ...adapter, transaction: async () => {} });
      await expect(idle.allocate('silent', 1)).rejects.toThrow('transaction() must be');
      expect(await silent.allocate('silent', 1)).toMatchObject({ first: 1n });
    });

    it('rolls back when nobody waits for the answer any more', async () => {
      const impatient = storeOn(adapter, { timeout: 500 });
      await store.defineSequence({ name: 'held', blockSize: 10 });
      // Its first call also looks at the marker of the schema, and at the columns.
      await expect.poll(() => impatient.describeSequence('held').then(({ next }) => next, String)).toBe(1n);
      const holder = await database.connect();
      await holder.query('BEGIN', []);
      await holder.query(`SELECT name FROM id_sequences WHERE name = 'held' FOR UPDATE`, []);
      await expect(impatient.allocate('held', 1)).rejects.toThrow('no answer within 500 ms');
      await holder.query('COMMIT', []);
      await holder.release();
      expect(await storeOn(adapter).allocate('held', 1)).toMatchObject({ first: 1n });
    });

    it('has ids for a sequence', async () => {
      const sequences = new Sequences(store);
      await sequences.define('orders', { start: 10_000 });
      expect(await (await sequences.get('orders')).next()).toBe(10_000n);
    });
  });

describe('sqliteStore', () => {
  it('takes no adapter: it watches and locks the file itself', () => {
    const adapter = { dialect: 'sqlite', query: async () => [], transaction: async () => {} };
    expect(() => sqliteStore(adapter as never)).toThrow(InvalidOptionError);
    expect(() => sqliteStore(adapter as never)).toThrow('better-sqlite3');
    expect(() => sqliteStore(new Libsql(':memory:'))).not.toThrow();
  });
});
