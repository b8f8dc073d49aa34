import { atAnyTime, never, type Recogniser, type SqlDriver } from './driver.js';
import type { SqlAdapter } from './port.js';
import { call, type Foreign, hasMethods, rowsIn } from './shapes.js';
import { givesRows } from './statements.js';

/** `postgres` (postgres.js): `sql`, what `sql.reserve()` gives, or what `sql.begin()` gives. */
export const postgresJs: Recogniser = (sql) => {
  if (!hasMethods(sql, 'unsafe')) return undefined;
  const isPool = hasMethods(sql, 'begin') && !hasMethods(sql, 'release');
  const driver: SqlDriver = {
    dialect: 'postgres',
    query: async (text, values) => {
      const rows = rowsIn(await call(sql, 'unsafe', text, values));
      const last = rows.at(-1);
      // Several statements have several answers, which are lists of rows.
      return Array.isArray(last) ? [...last] : [...rows];
    },
    ...(isPool && {
      inTransaction: never,
      transaction: async (work) =>
        call(sql, 'begin', (inside: Foreign) => work(postgresJs(inside) as SqlDriver)),
    }),
  };
  return Object.assign(driver, { borrow: atAnyTime(driver) });
};

/** `@libsql/client`: a client or a transaction. */
export const libsqlClient: Recogniser = (client) => {
  if (!hasMethods(client, 'execute', 'batch', 'executeMultiple')) return undefined;
  const isTransaction = hasMethods(client, 'commit', 'rollback');
  return {
    dialect: 'sqlite',
    query: async (sql, args) => {
      const answer = (await call(client, 'execute', { sql, args })) as {
        columns: string[];
        rows: unknown[][];
      };
      return answer.rows.map((row) => Object.fromEntries(answer.columns.map((name, i) => [name, row[i]])));
    },
    // A client may be a server that gives every statement a connection of its own.
    ...(!isTransaction && { inTransaction: never }),
  };
};

/** A connection of a SQLite driver that does not wait. */
export interface SqliteConnection {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
}

interface SqliteStatement {
  /** False if the statement gives no rows. `better-sqlite3` has this, and `all` fails then. */
  readonly reader?: boolean;
  all(...values: unknown[]): unknown[];
  run(...values: unknown[]): unknown;
}

/** The rows of a statement on SQLite, at once. */
export function sqliteRowsOf(db: SqliteConnection, text: string, values: readonly unknown[] = []): unknown[] {
  // Not with a prepared statement, which libsql leaves half open when it meets a lock.
  if (values.length === 0 && !givesRows(text)) {
    db.exec(text);
    return [];
  }
  const statement = db.prepare(text);
  if (statement.reader !== false) return statement.all(...values);
  statement.run(...values);
  return [];
}

/** True for a database of `better-sqlite3`, `libsql`, `node:sqlite` or `bun:sqlite`. */
export const isSqliteConnection = (db: unknown): db is SqliteConnection => hasMethods(db, 'prepare', 'exec');

/** `better-sqlite3`, `libsql`, `node:sqlite` or `bun:sqlite`: a database. */
export const sqlite: Recogniser = (db) =>
  isSqliteConnection(db)
    ? { dialect: 'sqlite', query: async (text, values) => sqliteRowsOf(db, text, values) }
    : undefined;

/** An adapter of the user's own. */
export const own: Recogniser = (client) => {
  if (typeof client.dialect !== 'string' || !hasMethods(client, 'query')) return undefined;
  const adapter = client as unknown as SqlAdapter;
  return {
    dialect: adapter.dialect,
    query: (text, values) => adapter.query(text, values),
    ...(adapter.inTransaction && { inTransaction: () => adapter.inTransaction?.() as boolean }),
    ...(adapter.transaction && { transaction: async (work) => adapter.transaction?.(work) }),
  };
};
