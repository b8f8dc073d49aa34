import type { SqlExecutor } from '../../drivers/port.js';
import { isSqliteConnection, type SqliteConnection, sqliteRowsOf } from '../../drivers/sqlite.js';
import { StoreError } from '../../errors.js';
import { refuse, requireChoice, requireKnown } from '../../options.js';
import { sequenceStore } from '../../sequence/rows.js';
import { packageError } from '../../support/load-package.js';
import { type DriverError, storeError } from '../../support/store-error.js';
import { makeStore, type OwnClient } from '../make-store.js';
import { UNMARKED_SCHEMA } from '../schema-version.js';
import { type RunStatement, sqlite } from '../sql/dialect.js';
import { sqlLeases } from '../sql/leases.js';
import { type LineageOptions, lineageOptions, SqlLineage } from '../sql/lineage.js';
import { sqlRows } from '../sql/sequences.js';
import { executorOf, type SqlRun, sqlRunner } from '../sql/session.js';
import { onlyInteger } from '../sql/values.js';
import type { DisposableStore, SqlAccess } from '../store.js';
import { requireSettings } from '../url.js';
import { checkFileSystem } from './file-system.js';
import { FileWatch } from './file-watch.js';
import { isBusy, LockWatch, type Patience } from './lock-watch.js';
import { leaseTable, readMarker, sqliteTable, withMarker } from './tables.js';

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

/** Options of a SQLite store. */
export type SqliteStoreOptions = Pick<LineageOptions, 'maxJump'>;

/**
 * A store in a SQLite file, for the processes of one machine, or in memory. The first use of leases creates the table
 * `idsmith_leases`, the first use of sequences creates `id_sequences` and `idsmith_pasts`, and with them `idsmith_schema`. An
 * `id_sequences` that another program has created gets the columns that are missing. The connection is set to `synchronous = EXTRA`; without this
 * setting a power cut may undo an acknowledged write.
 *
 * The connection stays yours: `close()` does not close it. While a transaction is open on the connection, the store's calls
 * fail. Set `PRAGMA journal_mode = WAL` on a file that several processes share. When the file is removed or replaced while it
 * is open, every later call is a `StoreError`.
 *
 * @throws InvalidOptionError if `db` is none of these databases, its file has two paths (see `requireOnePath`), or an option is wrong
 */
export function sqliteStore(db: SqliteDatabase, options: SqliteStoreOptions = {}): DisposableStore {
  const { maxJump } = lineageOptions(requireKnown('options', options, ['maxJump']));
  if (isSqliteConnection(db)) return storeOn(db, maxJump);
  return refuse(
    'db',
    'a database of node:sqlite, libsql, better-sqlite3 or bun:sqlite, whose file the store watches',
    db,
  );
}

type OpenDatabase = SqliteConnection & { close(): unknown };
type Constructor = new (path: string) => OpenDatabase;

/**
 * The store of a URL like `sqlite:./ids.db` or `sqlite::memory:`, with a connection of its own that `close()` ends.
 *
 * @throws InvalidOptionError when the URL has no path or an unknown setting, or the file would not last: see `checkFileSystem`
 * @throws StoreError when the file cannot be opened, or `libsql` is needed and not installed
 */
export async function openSqlite(url: string): Promise<DisposableStore> {
  const [path = '', query = '', ...rest] = url.replace(/^sqlite:(\/\/)?/, '').split('?');
  if (path === '' || rest.length > 0)
    refuse('url', 'sqlite: and the path of a file, or sqlite::memory:', url);
  const settings = new URLSearchParams(query);
  requireSettings('a SQLite URL', settings, ['ephemeral', 'network', 'maxJump']);
  const isSaid = (name: string) =>
    requireChoice(name, settings.get(name) ?? 'false', ['false', 'true']) === 'true';
  const jump = settings.get('maxJump');
  const { maxJump } = lineageOptions(jump === null ? {} : { maxJump: Number(jump) });
  const promises = { ephemeral: isSaid('ephemeral'), network: isSaid('network') };
  // Some builds of SQLite read this as a URI: another file than the path names, or none at all.
  if (/^file:/i.test(path))
    refuse('url', 'sqlite: and a path without file:, for example sqlite:./ids.db', url);
  const { Database, isLibsql } = await sqliteDriver();
  checkFileSystem(path === ':memory:' ? path : absolute(path), promises);
  try {
    const db = new Database(path);
    return storeOn(db, maxJump, {
      path: absolute(path),
      // In WAL mode, readers and the writer do not wait for each other. The file remembers the mode.
      configure: () => db.exec('PRAGMA journal_mode = WAL'),
      end: async () => {
        const statement = isLibsql ? new WeakRef(db.prepare('SELECT 1')) : undefined;
        closeWithCheckpoint(db);
        if (statement !== undefined) await collectStatements(statement);
      },
    });
  } catch (error) {
    const problem = problemOf(path);
    const place = absolute(path);
    if (problem === undefined) throw storeError(`sqlite store: opening the file ${place}`, error);
    throw new StoreError(`sqlite store: opening the file ${place} failed: ${problem}`, {
      cause: error,
      reason: 'NOT_FOUND',
    });
  }
}

/** The reason why there can be no file at the path, if there is one. SQLite says only that it is unable to open the file. */
function problemOf(path: string): string | undefined {
  const fs = process.getBuiltinModule?.('node:fs');
  const paths = process.getBuiltinModule?.('node:path');
  if (fs === undefined || paths === undefined) return undefined;
  const folder = paths.dirname(absolute(path));
  if (!fs.existsSync(folder)) return `the folder ${folder} does not exist`;
  try {
    return fs.statSync(path).isDirectory() ? 'the path is that of a folder' : undefined;
  } catch {
    // The driver's own error tells more than that the path cannot be looked at.
    return undefined;
  }
}

/** The path from the root, so that a change of the working directory does not matter. */
function absolute(path: string): string {
  const paths = process.getBuiltinModule?.('node:path') as { resolve(path: string): string } | undefined;
  return paths?.resolve(path) ?? path;
}

/**
 * Closes the connection with all writes in the one file, so that a copy of the file has them. A driver alone may leave writes in
 * the log beside the file. The log stays while other connections have the file open.
 */
function closeWithCheckpoint(db: OpenDatabase): void {
  try {
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch (error) {
    if (!isBusy(error as DriverError)) throw error;
  } finally {
    db.close();
  }
}

async function sqliteDriver(): Promise<{ Database: Constructor; isLibsql: boolean }> {
  // Not an import: Node 20 and Bun do not have this module. This call tells so without an error.
  const builtIn = process.getBuiltinModule?.('node:sqlite') as { DatabaseSync: Constructor } | undefined;
  if (builtIn) return { Database: builtIn.DatabaseSync, isLibsql: false };
  return { Database: (await loadLibsql()).default, isLibsql: true };
}

async function loadLibsql() {
  try {
    return await import('libsql');
  } catch (error) {
    throw packageError('libsql', error);
  }
}

/** A file that was opened for a store. */
interface OwnFile extends OwnClient {
  /** The path that was opened. */
  readonly path: string;
  /** Sets the connection up, before the first statement. */
  configure(): void;
}

/** Longer than an ordinary writer holds its locks, and shorter than a lease lasts. */
const LEASE_PATIENCE = { stalled: 5000, busy: 20_000 };

/** Hundreds of processes that share a file take turns within this time. */
const PATIENCE = { stalled: 20_000, busy: 300_000 };

/**
 * A store on a connection, for `sqliteStore` and `openSqlite`.
 *
 * @param own the file that `openSqlite` has opened
 */
function storeOn(db: SqliteConnection, maxJump: number | undefined, own?: OwnFile): DisposableStore {
  const session = new SqliteSession(db, own);
  const leases = session.statements(leaseTable, LEASE_PATIENCE);
  const sequences = session.statements(sqliteTable, PATIENCE);
  const lineage = new SqlLineage(() => session.lineage);
  return makeStore(
    'sqlite',
    {
      ...sqlLeases(sqlite, leases, lineage),
      ...sequenceStore(sqlRows(sqlite, { run: sequences, lineage, maxJump })),
      schemaVersion: () =>
        session.alone('schemaVersion', () => readOnly(db, () => readMarker(db)) ?? UNMARKED_SCHEMA),
      durable: true,
      hostClock: true,
      sql: session,
    },
    own,
  );
}

/** SQLite's own wait for a lock, ms. This wait blocks the thread. The longer wait of the runner does not. */
const BUSY_TIMEOUT = 10;

/**
 * The pauses between two looks at a locked file, ms. SQLite keeps no line of those who wait. Whoever looks often gets in sooner, but
 * hundreds who look often leave the writer no processor, so the pauses grow. They may be short at any time, so that nobody is last.
 */
const PAUSES = { unit: 1, longest: 500, floor: 0 };

/** Gives the statements that create missing tables. Called inside a transaction, with a function that gives the rows of a query. */
type MissingTables = (rowsOf: (sql: string) => unknown[]) => readonly string[];

/** A SQLite file as a store uses it, on the store's only connection. */
class SqliteSession implements SqlAccess {
  readonly outside: SqlExecutor;
  readonly #db: SqliteConnection;
  readonly #own: OwnFile | undefined;
  readonly #file: FileWatch;
  /** Runs what needs no tables of the store: statements of series, and the beginnings of their transactions. */
  readonly alone: SqlRun;
  /** True while a transaction of a series is open on the connection. */
  #isOpen = false;
  /** Kept, because preparing may meet a lock. Weakly, because a statement of libsql keeps the files of a closed connection open. */
  #waitOf: WeakRef<{ all(): unknown[] }> | undefined;

  /** @param own the file that `openSqlite` has opened */
  constructor(db: SqliteConnection, own: OwnFile | undefined) {
    this.#db = db;
    this.#own = own;
    this.#file = new FileWatch(db, own?.path);
    this.alone = this.runner(() => [], PATIENCE);
    this.outside = this.#executor((ask) => this.alone('a statement of a series', ask), false);
  }

  /** A runner of statements on tables, which are made before the first one. */
  statements(tables: MissingTables, patience: Patience): RunStatement {
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
   * A runner of operations, as {@link statements}. An operation that meets a lock is repeated, and any other failure becomes a `StoreError`.
   * Operations wait while a transaction of a series is open on the connection: they do not belong to it. The file must be in its place before
   * and after: a file that was removed or replaced does not count.
   */
  runner(tables: MissingTables, patience: Patience): SqlRun {
    const lock = new LockWatch(() => this.#briefly(() => dataVersion(this.#db)), patience.stalled);
    const run = sqlRunner({
      name: 'sqlite',
      at: this.#own?.path,
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

  /** The lineage of the file as an SQL expression; `undefined` for a database in memory. */
  get lineage(): string | undefined {
    return this.#file.lineage && `'${this.#file.lineage}'`;
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

  #prepareFile(missing: MissingTables): void {
    const tables = withMarker(this.#db, () => missing((sql) => sqliteRowsOf(this.#db, sql)));
    this.#own?.configure();
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
function readOnly<T>(db: SqliteConnection, work: () => T): T {
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

// libsql has no way to finalise a statement, and SQLite keeps the files of a closed connection open until the last statement is
// finalised. So the garbage collector closes files. A collection takes time, so a few closed connections share one.

/** The most closed connections whose files may still be open. Each has three: the database, the log, and the index of the log. */
const MOST_OPEN = 8;

/** The last statement of each closed connection. It is collected together with the others. The files belong to the process. */
let uncollected: WeakRef<object>[] = [];

/** Has the statements of closed connections collected when there are many. */
export async function collectStatements(last: WeakRef<object>): Promise<void> {
  uncollected = [...uncollected, last].filter((statement) => statement.deref() !== undefined);
  if (uncollected.length < MOST_OPEN) return;
  uncollected = [];
  // A reference that was looked at keeps its statement until the present task is over. Finalisers run in a task of their own.
  await nextTask();
  collectGarbage();
  await nextTask();
}

const nextTask = () => new Promise<void>((resolve) => setTimeout(resolve));

function collectGarbage(): void {
  const { Bun } = globalThis as { Bun?: { gc(isForced: boolean): void } };
  const v8 = process.getBuiltinModule?.('node:v8');
  const vm = process.getBuiltinModule?.('node:vm');
  if (Bun !== undefined) Bun.gc(true);
  else if (v8 !== undefined && vm !== undefined) {
    // A context that is made with this flag has a function that collects the garbage of the whole process.
    v8.setFlagsFromString('--expose-gc');
    const collect = vm.runInNewContext('gc') as () => void;
    v8.setFlagsFromString('--no-expose-gc');
    collect();
  }
}
