import { requireNamespace } from '../../lease/namespace.js';
import { refuse, requireKnown } from '../../options.js';
import { sequenceStore } from '../../sequence/rows.js';
import { loadDriver, ownedStore } from '../driver.js';
import type { Store } from '../memory/store.js';
import {
  type DriverError,
  leaseRecord,
  onlyInteger,
  type SqlRun,
  sqlRunner,
  storeError,
} from '../sql/runner.js';
import { FileWatch } from './file-watch.js';
import { sqliteRows, sqliteTable } from './sequences.js';

/** A value that every SQLite driver binds. */
export type SqliteValue = string | number | null;

/** What the store needs of a connection: `DatabaseSync` of `node:sqlite` and `Database` of `libsql` have it. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): {
    all(...values: SqliteValue[]): unknown[];
    run(...values: SqliteValue[]): { changes: number | bigint };
  };
}

/** How long SQLite itself waits for a lock, ms. It blocks the thread meanwhile; the longer wait does not. */
const BUSY_TIMEOUT = 100;

const TABLES = [
  `CREATE TABLE IF NOT EXISTS idsmith_leases (
    namespace TEXT NOT NULL,
    id INTEGER NOT NULL,
    owner TEXT,
    epoch INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    label TEXT NOT NULL,
    PRIMARY KEY (namespace, id)
  ) WITHOUT ROWID`,
];

// Julian days; 2440587.5 is the start of 1970. SQLite's clock has whole milliseconds, so rounding restores them.
const NOW = `SELECT CAST(CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) AS TEXT)`;

const LIST = `SELECT CAST(id AS TEXT) AS id, owner, CAST(epoch AS TEXT) AS epoch, CAST(fence AS TEXT) AS fence,
    CAST(expires_at AS TEXT) AS expires_at, label
  FROM idsmith_leases WHERE namespace = ?`;

const INSERT = `INSERT INTO idsmith_leases (owner, epoch, fence, expires_at, label, namespace, id)
  VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;

const UPDATE = `UPDATE idsmith_leases SET owner = ?, epoch = ?, fence = ?, expires_at = ?, label = ?
  WHERE namespace = ? AND id = ? AND owner IS ? AND epoch = ? AND fence = ? AND expires_at = ?`;

/**
 * A store in a SQLite file, for the processes of one machine, or in memory. The tables `idsmith_leases` and `id_sequences`
 * are made when leases or sequences are first used, and the connection is set to `synchronous = EXTRA`, without which a
 * power cut may undo what was acknowledged. An `id_sequences` that another program has made gets the columns it lacks.
 *
 * The connection stays yours: `close()` does not close it. While you have a transaction open on it, the store's calls
 * fail. Let your files have `PRAGMA journal_mode = WAL` if several processes share them. A file that is removed or replaced while
 * it is open is a `StoreError` from then on.
 *
 * @param options has nothing in it yet
 * @throws InvalidOptionError if it has
 */
export function sqliteStore(db: SqliteDatabase, options: Readonly<Record<never, never>> = {}): Store {
  requireKnown('options', options, []);
  return storeOn(db, () => {});
}

function storeOn(db: SqliteDatabase, configure: () => void): Store {
  const file = new FileWatch(db);
  const runner = (tables: () => readonly string[]): SqlRun => {
    const options = { name: 'sqlite', setUp: () => watched(() => setUp(db, configure, tables)) };
    const runChecked = sqlRunner({ ...options, isTransient: isBusy });
    return (operation, statement) => runChecked(operation, () => watched(statement));
  };
  /** Runs `work` on a file that is in its place before and after: what is read or written elsewhere does not count. */
  const watched = <T>(work: () => T): T => {
    file.check();
    const result = work();
    file.check();
    return result;
  };
  const run = runner(() => TABLES);
  const rowsOf = (sql: string, values: SqliteValue[] = []) => db.prepare(sql).all(...values);
  const runSequences = runner(() => sqliteTable(rowsOf));
  return {
    ...sequenceStore(
      sqliteRows((what, build, make) =>
        runSequences(what, () => {
          const { sql, values } = build();
          return make(transact(db, () => rowsOf(sql, values as string[])));
        }),
      ),
    ),
    durable: true,
    hostClock: true,

    now: () => run('now', () => onlyInteger(db.prepare(NOW).all())),

    async listLeases(namespace) {
      requireNamespace(namespace);
      const select = () => db.prepare(LIST).all(namespace);
      return run('listLeases', () => transact(db, select).map(leaseRecord));
    },

    async swapLease(namespace, expected, { id, owner, epoch, fence, expiresAt, label }) {
      const values = [owner, epoch, fence, expiresAt, label, requireNamespace(namespace), id];
      if (expected) values.push(expected.owner, expected.epoch, expected.fence, expected.expiresAt);
      const sql = expected ? UPDATE : INSERT;
      const { changes } = await run('swapLease', () => transact(db, () => db.prepare(sql).run(...values)));
      return Number(changes) === 1;
    },

    async close() {},
  };
}

/** @param tables gives the statements that make what is not there; called with the file locked */
function setUp(db: SqliteDatabase, configure: () => void, tables: () => readonly string[]): void {
  const wait = onlyInteger(db.prepare('PRAGMA busy_timeout').all());
  if (wait === 0) db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT}`);
  configure();
  db.exec('PRAGMA synchronous = EXTRA');
  transact(db, () => {
    for (const statement of tables()) db.exec(statement);
  });
}

/**
 * Runs `work` with the file locked for writing from the start, so that it cannot be refused in the middle. A bare
 * statement would not do: libsql leaves one that met a lock half open, and until it is collected SQLite commits nothing
 * that the connection writes, but reports it as done.
 */
function transact<T>(db: SqliteDatabase, work: () => T): T {
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

/** SQLITE_BUSY or SQLITE_LOCKED, with any extension: the statement was rolled back. */
function isBusy({ code, errcode, rawCode }: DriverError): boolean {
  const primaryCode = Number(errcode ?? rawCode) & 0xff;
  return primaryCode === 5 || primaryCode === 6 || code === 'SQLITE_BUSY' || code === 'SQLITE_LOCKED';
}

type Constructor = new (path: string) => SqliteDatabase & { close(): unknown };

/**
 * The store on the file or memory of a `sqlite:` URL, for `openStore`.
 *
 * @internal
 */
export async function openSqlite(url: string): Promise<Store> {
  const path = url.replace(/^sqlite:(\/\/)?/, '');
  if (path === '' || path.includes('?'))
    refuse('url', 'sqlite: and the path of a file, without settings, or sqlite::memory:', url);
  const Database = await sqliteDriver();
  try {
    const db = new Database(path);
    // With a log of writes, readers and the writer do not wait for each other. The file remembers it.
    const store = storeOn(db, () => db.exec('PRAGMA journal_mode = WAL'));
    return ownedStore(store, () => closeWhole(db));
  } catch (error) {
    throw storeError('sqlite store: opening the file', error);
  }
}

/**
 * Closes the connection with all that was written in the one file, so that a copy of the file has it. Drivers may leave it in
 * the log beside the file. While others have the file open it may stay there.
 */
function closeWhole(db: SqliteDatabase & { close(): unknown }): void {
  try {
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch (error) {
    if (!isBusy(error as DriverError)) throw error;
  } finally {
    db.close();
  }
}

async function sqliteDriver(): Promise<Constructor> {
  // Not an import: Node 20 and Bun do not have this module, and say so here without an error.
  const builtIn = process.getBuiltinModule?.('node:sqlite') as { DatabaseSync: Constructor } | undefined;
  if (builtIn) return builtIn.DatabaseSync;
  return (await loadDriver('libsql', () => import('libsql'))).default;
}
