import { requireKnown } from '../../options.js';
import { sequenceStore } from '../../sequence/rows.js';
import { makeStore, type OwnClient } from '../make-store.js';
import type { DisposableStore } from '../store.js';
import {
  readOnly,
  type SqliteConnection,
  type SqliteDatabase,
  sqliteRunner,
  transact,
} from './connection.js';
import { sqliteLeases } from './leases.js';
import { sqliteRows, sqliteTable } from './sequences.js';

/** The longest wait of a sequence for a locked file, ms. Hundreds of processes that share a file take turns within this time. */
const PATIENCE = 20_000;

/**
 * A store in a SQLite file, for the processes of one machine, or in memory. The first use of leases creates the table
 * `idsmith_leases`, the first use of sequences creates `id_sequences`. An `id_sequences` that another program has created gets
 * the columns that are missing. The connection is set to `synchronous = EXTRA`; without this setting a power cut may undo an
 * acknowledged write.
 *
 * The connection stays yours: `close()` does not close it. While a transaction is open on the connection, the store's calls
 * fail. Set `PRAGMA journal_mode = WAL` on a file that several processes share. When the file is removed or replaced while it
 * is open, every later call is a `StoreError`.
 *
 * @param options has no members yet
 * @throws InvalidOptionError if `options` has a member
 */
export function sqliteStore(
  db: SqliteDatabase,
  options: Readonly<Record<never, never>> = {},
): DisposableStore {
  requireKnown('options', options, []);
  return storeOn(db as SqliteConnection);
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
  const runner = sqliteRunner(db, () => own?.configure(), own?.path);
  const rowsOf = (sql: string, values: string[] = []) => db.prepare(sql).all(...values);
  const run = runner(() => sqliteTable(rowsOf), PATIENCE);
  const rows = sqliteRows((what, build, make) =>
    run(what, () => {
      const { sql, values } = build();
      const within = sql.startsWith('SELECT') ? readOnly : transact;
      return make(within(db, () => rowsOf(sql, values as string[])));
    }),
  );
  const methods = { ...sqliteLeases(db, runner), ...sequenceStore(rows), durable: true, hostClock: true };
  return makeStore('sqlite', methods, own);
}
