import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SqlAdapter } from 'idsmith/sql';
import Database from 'libsql';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { type ServiceName, shared } from '#services';
import { mysqlStore } from '../../src/stores/mysql/store.ts';
import { postgresStore } from '../../src/stores/postgres/store.ts';
import { sqliteStore } from '../../src/stores/sqlite/store.ts';
import type { Store } from '../../src/stores/store.ts';

/** A transaction of a user's program, on a connection of its own. */
interface OpenTransaction {
  readonly client: object;
  /** More objects that stand for the same connection, made anew by each call. */
  others(): object[];
  /** Writes an invoice that refers to the one before it, and gives the number of the one before. */
  chain(number: string): Promise<string | undefined>;
  commit(): Promise<unknown>;
  rollback(): Promise<unknown>;
}

/** A database as the tests of series use it. */
export interface TestDatabase {
  readonly store: Store;
  /** A connection without a transaction. */
  readonly idle: object;
  begin(): Promise<OpenTransaction>;
  end(): Promise<void>;
}

/** Adapters as a user writes them, one for each call. */
const adapters = (
  dialect: SqlAdapter['dialect'],
  query: (text: string, values: readonly unknown[]) => Promise<unknown>,
): object[] =>
  [1, 2].map(() => ({
    dialect,
    query: async (text, values) => (await query(text, values)) as unknown[],
  })) satisfies SqlAdapter[];

const INVOICES = 'CREATE TABLE invoices (number VARCHAR(100) PRIMARY KEY)';
const LAST = 'SELECT number FROM invoices ORDER BY number DESC LIMIT 1';

async function postgres(): Promise<TestDatabase> {
  const server = await shared('postgres');
  const pool = new pg.Pool({ connectionString: server.url, max: 30 });
  pool.on('error', () => {});
  await pool.query(INVOICES);
  return {
    store: postgresStore(pool),
    idle: pool,
    async begin() {
      const client = await pool.connect();
      await client.query('BEGIN');
      const end = (sql: string) => client.query(sql).finally(() => client.release());
      return {
        client,
        others: () =>
          adapters('postgres', async (text, values) => (await client.query(text, [...values])).rows),
        async chain(number) {
          const before = (await client.query(LAST)).rows[0]?.number;
          await client.query('INSERT INTO invoices VALUES ($1)', [number]);
          return before;
        },
        commit: () => end('COMMIT'),
        rollback: () => end('ROLLBACK'),
      };
    },
    async end() {
      await pool.end();
      await server.stop();
    },
  };
}

async function mariadb(): Promise<TestDatabase> {
  const server = await shared('mariadb');
  const pool = createPool({ uri: server.url, connectionLimit: 30 });
  await pool.query(INVOICES);
  return {
    store: mysqlStore(pool),
    idle: pool,
    async begin() {
      const client = await pool.getConnection();
      await client.beginTransaction();
      return {
        client,
        others: () => [
          client.connection,
          (client.connection as unknown as { promise(): object }).promise(),
          ...adapters('mysql', async (text, values) => {
            const [rows] = await client.query(text, [...values]);
            return Array.isArray(rows) ? rows : [];
          }),
        ],
        async chain(number) {
          const [rows] = await client.query(LAST);
          await client.query('INSERT INTO invoices VALUES (?)', [number]);
          return (rows as { number: string }[])[0]?.number;
        },
        commit: () => client.commit().finally(() => client.release()),
        rollback: () => client.rollback().finally(() => client.release()),
      };
    },
    async end() {
      await pool.end();
      await server.stop();
    },
  };
}

async function sqlite(): Promise<TestDatabase> {
  const folder = mkdtempSync(join(tmpdir(), 'idsmith-series-'));
  const open = () => new Database(join(folder, 'ids.db'));
  const [admin, idle] = [open(), open()];
  admin.exec('PRAGMA journal_mode = WAL');
  admin.exec(INVOICES);
  // SQLite does not let the thread go while it waits for a lock, so transactions take turns.
  let turn: Promise<unknown> = Promise.resolve();
  return {
    store: sqliteStore(admin),
    idle,
    async begin() {
      const before = turn;
      let done = () => {};
      turn = new Promise<void>((resolve) => {
        done = resolve;
      });
      await before;
      const db = open();
      db.exec('BEGIN');
      const end = async (sql: string) => {
        db.exec(sql);
        db.close();
        done();
      };
      return {
        client: db,
        others: () =>
          adapters('sqlite', async (text, values) => {
            const statement = db.prepare(text);
            if (statement.reader) return statement.all(...values);
            statement.run(...values);
            return [];
          }),
        async chain(number) {
          const [row] = db.prepare(LAST).all() as { number: string }[];
          db.prepare('INSERT INTO invoices VALUES (?)').run(number);
          return row?.number;
        },
        commit: () => end('COMMIT'),
        rollback: () => end('ROLLBACK'),
      };
    },
    async end() {
      admin.close();
      idle.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Every database that can have a series in a transaction. */
export const DATABASES: readonly [name: string, needs: ServiceName[], start: () => Promise<TestDatabase>][] =
  [
    ['PostgreSQL', ['postgres'], postgres],
    ['MariaDB', ['mariadb'], mariadb],
    ['SQLite', [], sqlite],
  ];
