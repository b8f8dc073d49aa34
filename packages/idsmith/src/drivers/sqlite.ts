import { call, givesRows, hasMethods, never, type Recogniser } from './driver.js';

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
export const sqliteDatabase: Recogniser = (db) =>
  isSqliteConnection(db)
    ? { dialect: 'sqlite', query: async (text, values) => sqliteRowsOf(db, text, values) }
    : undefined;
