import type { DriverError } from '../../support/store-error.js';
import { type SqlRun, sqlRunner } from '../sql/runner.js';
import { onlyInteger } from '../sql/values.js';
import { FileWatch } from './file-watch.js';

/** A value that every SQLite driver binds. */
export type SqliteValue = string | number | null;

/**
 * The part of a connection that the store uses. `DatabaseSync` of `node:sqlite` and `Database` of `libsql` and `better-sqlite3`
 * have it. Drivers type the values that they bind in ways that exclude each other, so this type does not tell which they take.
 */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): {
    all(...values: never[]): unknown[];
    run(...values: never[]): { changes: number | bigint };
  };
}

/** A {@link SqliteDatabase} with the values that every driver binds. */
export interface SqliteConnection {
  exec(sql: string): unknown;
  prepare(sql: string): {
    all(...values: SqliteValue[]): unknown[];
    run(...values: SqliteValue[]): { changes: number | bigint };
  };
}

/** SQLite's own wait for a lock, ms. This wait blocks the thread. The longer wait of the runner does not. */
const BUSY_TIMEOUT = 100;

/** Makes a runner of statements. `tables` gives the statements that create missing tables; called with the file locked. */
export type SqliteRunner = (tables: () => readonly string[]) => SqlRun;

/**
 * Runs statements on a file that is in its place before and after: a file that was removed or replaced does not count.
 *
 * @param configure sets the connection up, before the first statement
 * @param path the path that was opened, if it is known
 */
export function sqliteRunner(db: SqliteConnection, configure: () => void, path?: string): SqliteRunner {
  const file = new FileWatch(db, path);
  const watched = <T>(work: () => T): T => {
    file.check();
    const result = work();
    file.check();
    return result;
  };
  return (tables) => {
    const setUp = () => watched(() => prepareFile(db, configure, tables));
    const run = sqlRunner({ name: 'sqlite', at: path, setUp, isTransient: isBusy });
    return (operation, statement) => run(operation, () => watched(statement));
  };
}

function prepareFile(db: SqliteConnection, configure: () => void, tables: () => readonly string[]): void {
  const wait = onlyInteger(db.prepare('PRAGMA busy_timeout').all());
  if (wait === 0) db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT}`);
  configure();
  db.exec('PRAGMA synchronous = EXTRA');
  transact(db, () => {
    for (const statement of tables()) db.exec(statement);
  });
}

/**
 * Runs `work` with the file locked for writing from the start, so that the work cannot be refused in the middle. A bare
 * statement is not enough: libsql leaves a statement that met a lock half open. Until that statement is collected, SQLite
 * commits nothing that the connection writes, but reports success.
 */
export function transact<T>(db: SqliteConnection, work: () => T): T {
  db.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    db.exec('COMMIT');
    return result;
  } catch (error) {
    try {
      db.exec('ROLLBACK');
    } catch {
      // SQLite has rolled back by itself; the first error says why.
    }
    throw error;
  }
}

/** SQLITE_BUSY or SQLITE_LOCKED, with any extension: SQLite has rolled the statement back. */
export function isBusy({ code, errcode, rawCode }: DriverError): boolean {
  const primaryCode = Number(errcode ?? rawCode) & 0xff;
  return primaryCode === 5 || primaryCode === 6 || code === 'SQLITE_BUSY' || code === 'SQLITE_LOCKED';
}
