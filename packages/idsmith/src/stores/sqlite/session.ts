import type { SqlExecutor } from '../../drivers/port.js';
import { type SqliteConnection, sqliteRowsOf } from '../../drivers/sqlite.js';
import type { DriverError } from '../../support/store-error.js';
import type { RunStatement } from '../sql/dialect.js';
import { executorOf, type SqlRun, sqlRunner } from '../sql/session.js';
import { onlyInteger } from '../sql/values.js';
import type { SqlAccess } from '../store.js';
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

/** The settings of a {@link SqliteSession}. */
interface SessionOptions {
  /** Sets the connection up, before the first statement. */
  configure(): void;
  /** Looks at the file before {@link SqliteSession.alone} runs anything. Gives the statements to run then. */
  tables(): readonly string[];
  readonly patience: Patience;
  /** The path that was opened, if it is known. */
  readonly path: string | undefined;
}

/** A SQLite file as a store uses it, on the store's only connection. */
export class SqliteSession implements SqlAccess {
  readonly outside: SqlExecutor;
  readonly #db: SqliteConnection;
  readonly #path: string | undefined;
  readonly #configure: () => void;
  readonly #file: FileWatch;
  /** Runs what needs no tables of the store: statements of series, and the beginnings of their transactions. */
  readonly alone: SqlRun;
  /** True while a transaction of a series is open on the connection. */
  #isOpen = false;
  /** Kept, because preparing may meet a lock. Weakly, because a statement of libsql keeps the files of a closed connection open. */
  #waitOf: WeakRef<{ all(): unknown[] }> | undefined;

  constructor(db: SqliteConnection, { configure, tables, patience, path }: SessionOptions) {
    this.#db = db;
    this.#path = path;
    this.#configure = configure;
    this.#file = new FileWatch(db, path);
    this.alone = this.runner(tables, patience);
    this.outside = this.#executor((ask) => this.alone('a statement of a series', ask), false);
  }

  /**
   * A runner of statements.
   *
   * @param tables gives the statements that create missing tables; called inside a transaction
   */
  statements(tables: () => readonly string[], patience: Patience): RunStatement {
    const run = this.runner(tables, patience);
    return (what, build, make) =>
      run(what, () => {
        const { sql, values } = build();
        const ask = () => sqliteRowsOf(this.#db, sql, values);
        if (!sql.startsWith('SELECT')) return make(transact(this.#db, ask));
        return make(/\bFROM\b/.test(sql) ? readOnly(this.#db, ask) : ask());
      });
  }

  /**
   * A runner of operations, as {@link statements}. They wait while a transaction of a series is open on the connection: they do not
   * belong to it. The file must be in its place before and after: a file that was removed or replaced does not count.
   */
  runner(tables: () => readonly string[], patience: Patience): SqlRun {
    const lock = new LockWatch(() => this.#briefly(() => dataVersion(this.#db)), patience.stalled);
    const run = sqlRunner({
      name: 'sqlite',
      at: this.#path,
      setUp: () => this.#watched(() => this.#prepareFile(tables)),
      isTransient: (error) => isBusy(error) && lock.isWorthWaiting(),
      patience: patience.busy,
      pauses: PAUSES,
    });
    return (operation, statement) =>
      run(operation, () => {
        const result = this.#watched(() => {
          if (this.#isOpen)
            throw Object.assign(new Error('the connection is in use'), { code: 'SQLITE_BUSY' });
          return statement();
        });
        lock.passed();
        return result;
      });
  }

  async transact<T>(work: (sql: SqlExecutor) => Promise<T>): Promise<T> {
    await this.alone('the transaction of a series', () => {
      // Locked for writing from the start, so that the work cannot be refused in the middle.
      this.#db.exec('BEGIN IMMEDIATE');
      this.#isOpen = true;
    });
    try {
      const result = await work(this.#executor(async (ask) => ask(), true));
      this.#db.exec('COMMIT');
      return result;
    } catch (error) {
      rollBack(this.#db);
      throw error;
    } finally {
      this.#isOpen = false;
    }
  }

  /** The lineage of the file; `undefined` for a database in memory. */
  get lineage(): string | undefined {
    return this.#file.lineage;
  }

  #executor(run: <T>(ask: () => T) => Promise<T>, isInside: boolean): SqlExecutor {
    return executorOf('sqlite', (text, values) => run(() => sqliteRowsOf(this.#db, text, values)), isInside);
  }

  #watched<T>(work: () => T): T {
    this.#file.check(false);
    const result = this.#briefly(work);
    this.#file.check();
    return result;
  }

  /** Runs work with a short wait for locks. A longer wait of the connection would block the thread, and is set back afterwards. */
  #briefly<T>(work: () => T): T {
    const db = this.#db;
    let waitOf = this.#waitOf?.deref();
    if (waitOf === undefined) {
      waitOf = db.prepare('SELECT timeout FROM pragma_busy_timeout');
      this.#waitOf = new WeakRef(waitOf);
    }
    const wait = onlyInteger(waitOf.all());
    if (wait > 0 && wait <= BUSY_TIMEOUT) return work();
    db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT}`);
    try {
      return work();
    } finally {
      db.exec(`PRAGMA busy_timeout = ${wait}`);
    }
  }

  #prepareFile(tables: () => readonly string[]): void {
    this.#configure();
    this.#db.exec('PRAGMA synchronous = EXTRA');
    // Most processes find the tables, and need not wait for those who write.
    if (readOnly(this.#db, tables).length === 0) return;
    transact(this.#db, () => {
      for (const statement of tables()) this.#db.exec(statement);
    });
  }
}

/** A number that changes when another connection writes. */
export function dataVersion(db: SqliteConnection): unknown {
  const [row] = readOnly(db, () => sqliteRowsOf(db, 'PRAGMA data_version'));
  return Object.values(row as object)[0];
}

/**
 * Runs `work` with the file locked for writing from the start, so that the work cannot be refused in the middle. A bare
 * statement is not enough: libsql leaves a statement that met a lock half open. Until that statement is collected, SQLite
 * commits nothing that the connection writes, but reports success.
 */
function transact<T>(db: SqliteConnection, work: () => T): T {
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
    rollBack(db);
    throw error;
  }
}

function rollBack(db: SqliteConnection): void {
  try {
    db.exec('ROLLBACK');
  } catch {
    // SQLite has rolled back by itself; the first error says why.
  }
}

/** SQLITE_BUSY or SQLITE_LOCKED, with any extension: SQLite has rolled the statement back. */
export function isBusy({ code, errcode, rawCode }: DriverError): boolean {
  const primaryCode = Number(errcode ?? rawCode) & 0xff;
  return primaryCode === 5 || primaryCode === 6 || code === 'SQLITE_BUSY' || code === 'SQLITE_LOCKED';
}
