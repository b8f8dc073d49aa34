import { isSqliteConnection, type SqliteConnection, sqliteRowsOf } from '../../drivers/sqlite.js';
import { StoreError } from '../../errors.js';
import { refuse, requireChoice, requireKnown } from '../../options.js';
import { sequenceStore } from '../../sequence/rows.js';
import { packageError } from '../../support/load-package.js';
import { type DriverError, storeError } from '../../support/store-error.js';
import { makeStore, type OwnClient } from '../make-store.js';
import { UNMARKED_SCHEMA } from '../schema-version.js';
import { sqlite } from '../sql/dialect.js';
import { sqlLeases } from '../sql/leases.js';
import { type LineageOptions, lineageOptions, SqlLineage } from '../sql/lineage.js';
import { sqlRows } from '../sql/sequences.js';
import type { DisposableStore } from '../store.js';
import { requireSettings } from '../url.js';
import { checkFileSystem } from './file-system.js';
import { isBusy, readOnly, type SqliteDatabase, SqliteSession } from './session.js';
import { leaseTable, readMarker, sqliteTable, withMarker } from './tables.js';

/** Longer than an ordinary writer holds its locks, and shorter than a lease lasts. */
const LEASE_PATIENCE = { stalled: 5000, busy: 20_000 };

/** Hundreds of processes that share a file take turns within this time. */
const PATIENCE = { stalled: 20_000, busy: 300_000 };

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
 * @throws InvalidOptionError if `db` is none of these databases, or an option is wrong
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

/**
 * A store on a connection, for `sqliteStore` and `openSqlite`.
 *
 * @param own the file that `openSqlite` has opened
 */
function storeOn(db: SqliteConnection, maxJump: number | undefined, own?: OwnFile): DisposableStore {
  const session = new SqliteSession(db, {
    configure: () => own?.configure(),
    tables: withMarker(db, () => []),
    patience: PATIENCE,
    path: own?.path,
  });
  const rowsOf = (sql: string) => sqliteRowsOf(db, sql);
  const leases = session.statements(
    withMarker(db, () => leaseTable(rowsOf)),
    LEASE_PATIENCE,
  );
  const sequences = session.statements(
    withMarker(db, () => sqliteTable(rowsOf)),
    PATIENCE,
  );
  const lineage = new SqlLineage(() => session.lineage && `'${session.lineage}'`);
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
