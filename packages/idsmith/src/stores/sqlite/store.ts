import { isSqliteConnection, type SqliteConnection, sqliteRowsOf } from '../../executor/drivers.js';
import { refuse, requireKnown } from '../../options.js';
import { sequenceStore } from '../../sequence/rows.js';
import { makeStore, type OwnClient } from '../make-store.js';
import { UNMARKED } from '../schema-version.js';
import { giveSqlAccess } from '../sql/access.js';
import { sqlLeases } from '../sql/leases.js';
import type { SqlRun } from '../sql/runner.js';
import type { RunStatement } from '../sql/statement.js';
import type { DisposableStore } from '../store.js';
import { SqliteAccess } from './access.js';
import { readOnly, type SqliteDatabase, sqliteRunner, transact } from './connection.js';
import { LEASES, leaseTable } from './leases.js';
import { readMarker, withSchema } from './schema.js';
import { sqliteRows, sqliteTable } from './sequences.js';

/** Longer than an ordinary writer holds its locks, and shorter than a lease lasts. */
const LEASE_PATIENCE = { stalled: 5000, busy: 20_000 };

/** Hundreds of processes that share a file take turns within this time. */
const PATIENCE = { stalled: 20_000, busy: 300_000 };

/**
 * A store in a SQLite file, for the processes of one machine, or in memory. The first use of leases creates the table
 * `idsmith_leases`, the first use of sequences creates `id_sequences`, and with them `idsmith_schema`. An `id_sequences` that
 * another program has created gets the columns that are missing. The connection is set to `synchronous = EXTRA`; without this
 * setting a power cut may undo an acknowledged write.
 *
 * The connection stays yours: `close()` does not close it. While a transaction is open on the connection, the store's calls
 * fail. Set `PRAGMA journal_mode = WAL` on a file that several processes share. When the file is removed or replaced while it
 * is open, every later call is a `StoreError`.
 *
 * @param options has no members yet
 * @throws InvalidOptionError if `db` is none of these databases, or `options` has a member
 */
export function sqliteStore(
  db: SqliteDatabase,
  options: Readonly<Record<never, never>> = {},
): DisposableStore {
  requireKnown('options', options, []);
  if (isSqliteConnection(db)) return storeOn(db);
  return refuse(
    'db',
    'a database of node:sqlite, libsql, better-sqlite3 or bun:sqlite, whose file the store watches',
    db,
  );
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
export function storeOn(db: SqliteConnection, own?: OwnFile): DisposableStore {
  const access = new SqliteAccess(db);
  const runner = withSchema(db, access.guard(sqliteRunner(db, () => own?.configure(), own?.path)));
  const runAlone = runner(() => [], PATIENCE);
  const rowsOf = (sql: string, values?: readonly unknown[]) => sqliteRowsOf(db, sql, values);
  const statements =
    (run: SqlRun): RunStatement =>
    (what, build, make) =>
      run(what, () => {
        const { sql, values } = build();
        const ask = () => rowsOf(sql, values);
        if (!sql.startsWith('SELECT')) return make(transact(db, ask));
        return make(/\bFROM\b/.test(sql) ? readOnly(db, ask) : ask());
      });
  const runLeases = runner(() => leaseTable(rowsOf), LEASE_PATIENCE);
  const runSequences = runner(() => sqliteTable(rowsOf), PATIENCE);
  const methods = {
    ...sqlLeases(statements(runLeases), LEASES),
    ...sequenceStore(sqliteRows(statements(runSequences))),
    schemaVersion: () => runAlone('schemaVersion', () => readOnly(db, () => readMarker(db)) ?? UNMARKED),
    durable: true,
    hostClock: true,
  };
  return giveSqlAccess(makeStore('sqlite', methods, own), access.use(runAlone));
}
