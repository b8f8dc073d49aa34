import { type SqliteConnection, sqliteRowsOf } from '../../executor/drivers.js';
import type { DriverError } from '../../support/store-error.js';
import { type SqlRun, sqlRunner } from '../sql/runner.js';
import { onlyInteger } from '../sql/values.js';
import { FileWatch } from './file-watch.js';
import { LockWatch, type Patience } from './lock-watch.js';

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
    run(...values: never[]): unknown;
  };
}

/** SQLite's own wait for a lock, ms. This wait blocks the thread. The longer wait of the runner does not. */
const BUSY_TIMEOUT = 10;

/**
 * The pauses between two looks at a locked file, ms. SQLite keeps no line of those who wait. Whoever looks often gets in sooner, but
 * hundreds who look often leave the writer no processor, so the pauses grow. They may be short at any time, so that nobody is last.
 */
const PAUSES = { unit: 1, longest: 500, floor: 0 };

/**
 * Makes a runner of statements.
 *
 * @param tables gives the statements that create missing tables; called inside a transaction
 */
export type SqliteRunner = (tables: () => readonly string[], patience: Patience) => SqlRun;

/**
 * Runs statements on a file that is in its place before and after: a file that was removed or replaced does not count.
 *
 * @param configure sets the connection up, before the first statement
 * @param path the path that was opened, if it is known
 */
export function sqliteRunner(db: SqliteConnection, configure: () => void, path?: string): SqliteRunner {
  const file = new FileWatch(db, path);
  const briefly = withShortWaits(db);
  const watched = <T>(work: () => T): T => {
    file.check();
    const result = briefly(work);
    file.check();
    return result;
  };
  return (tables, patience) => {
    const lock = new LockWatch(() => briefly(() => dataVersion(db)), patience.stalled);
    const setUp = () => watched(() => prepareFile(db, configure, tables));
    const isTransient = (error: DriverError) => isBusy(error) && lock.isWorthWaiting();
    const run = sqlRunner({
      ...{ name: 'sqlite', at: path, setUp, isTransient, patience: patience.busy, pauses: PAUSES },
    });
    return (operation, statement) =>
      run(operation, () => {
        const result = watched(statement);
        lock.passed();
        return result;
      });
  };
}

/** A number that changes when another connection writes. */
export function dataVersion(db: SqliteConnection): unknown {
  const [row] = readOnly(db, () => sqliteRowsOf(db, 'PRAGMA data_version'));
  return Object.values(row as object)[0];
}

/** Runs work with a short wait for locks. A longer wait of the connection would block the thread, and is set back afterwards. */
function withShortWaits(db: SqliteConnection): <T>(work: () => T) => T {
  let waitOf: { all(): unknown[] } | undefined;
  return (work) => {
    waitOf ??= db.prepare('SELECT timeout FROM pragma_busy_timeout');
    const wait = onlyInteger(waitOf.all());
    if (wait > 0 && wait <= BUSY_TIMEOUT) return work();
    db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT}`);
    try {
      return work();
    } finally {
      db.exec(`PRAGMA busy_timeout = ${wait}`);
    }
  };
}

function prepareFile(db: SqliteConnection, configure: () => void, tables: () => readonly string[]): void {
  configure();
  db.exec('PRAGMA synchronous = EXTRA');
  // Most processes find the tables, and need not wait for those who write.
  if (readOnly(db, tables).length === 0) return;
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
  return within(db, 'BEGIN IMMEDIATE', work);
}

/** Runs `work`, which only reads. Others may read and write meanwhile. The first statement takes the lock that reading needs. */
export function readOnly<T>(db: SqliteConnection, work: () => T): T {
  return within(db, 'BEGIN', () => {
    db.exec('SELECT 1 FROM sqlite_master LIMIT 1');
    return work();
  });
}

function within<T>(db: SqliteConnection, begin: string, work: () => T): T {
  db.exec(begin);
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
