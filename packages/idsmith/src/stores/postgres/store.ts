import type { SqlAdapter } from '../../executor/port.js';
import { sequenceStore } from '../../sequence/rows.js';
import { makeStore, type OwnClient } from '../make-store.js';
import { SchemaGate } from '../schema-version.js';
import { giveSqlAccess, serverAccess } from '../sql/access.js';
import { admittedAccess } from '../sql/admitted-access.js';
import { isAdapter, requireTransactions } from '../sql/driver-of.js';
import { sqlLeases } from '../sql/leases.js';
import { type SqlStoreOptions, sqlTimeout } from '../sql/options.js';
import { type SqlRun, sqlRunner } from '../sql/runner.js';
import type { RunStatement } from '../sql/statement.js';
import type { DisposableStore } from '../store.js';
import { type PostgresClient, type PostgresJsClient, postgresDriver, queryWithTimeout } from './client.js';
import { createLeaseTable, LEASES } from './leases.js';
import { postgresMarker } from './schema.js';
import { postgresColumns, postgresRows, setUpSequenceTable } from './sequences.js';
import { adapterGuard, OUTSIDE_TRANSACTION, transactionGuard } from './transaction-guard.js';

/** Options of a PostgreSQL store. */
export type PostgresStoreOptions = SqlStoreOptions;

/** serialization_failure, deadlock_detected: the server has rolled the statement back. */
const ROLLED_BACK: readonly unknown[] = ['40001', '40P01'];

/** The beginning of a transaction that ends before its caller gives up. */
const begin = (left: number) => [
  'BEGIN ISOLATION LEVEL READ COMMITTED',
  `SET LOCAL statement_timeout = ${Math.ceil(left * 0.9)}`,
];

/**
 * A store in PostgreSQL. The first use of leases creates the table `idsmith_leases`, the first use of sequences creates
 * `id_sequences`, both in the first schema of the search path, and with them the view `idsmith_schema`. An `id_sequences` that
 * another program has created gets the columns that are missing.
 *
 * The client stays yours: `close()` does not end it. A `pg.Pool` needs a listener for `'error'`; without one the process ends
 * when the server does. A change on a connection that is inside a transaction is refused, because a rollback would undo it.
 *
 * @param client a `Pool` or `Client` of `pg`, the `sql` of `postgres` (postgres.js), or an adapter of your own with `transaction`
 * @throws InvalidOptionError if `timeout` is not a number of ms, or `client` is none of these
 */
export function postgresStore(
  client: PostgresClient | PostgresJsClient,
  options?: PostgresStoreOptions,
): DisposableStore;
export function postgresStore(adapter: SqlAdapter, options?: PostgresStoreOptions): DisposableStore;
export function postgresStore(
  client: PostgresClient | PostgresJsClient | SqlAdapter,
  options: PostgresStoreOptions = {},
): DisposableStore {
  return storeOn(client, options);
}

/** A store on a client, for `postgresStore` and `openPostgres`. */
export function storeOn(
  client: PostgresClient | PostgresJsClient | SqlAdapter,
  options: PostgresStoreOptions,
  own?: OwnClient,
): DisposableStore {
  const timeout = sqlTimeout(options);
  const driver = requireTransactions(postgresDriver(client));
  const rowsOf = queryWithTimeout(driver, timeout);
  const access = serverAccess(driver, { timeout, outside: rowsOf, begin });
  const { prepare, read, change } = isAdapter(driver)
    ? adapterGuard(driver, rowsOf, access)
    : transactionGuard(rowsOf);
  const schema = new SchemaGate('postgres', postgresMarker(rowsOf));
  const admit = () => schema.admit();
  const mark = () => schema.mark();
  const runner = (createTable: () => Promise<void>) =>
    sqlRunner({
      name: 'postgres',
      at: own?.at,
      setUp: async () => {
        await prepare();
        await admit();
        await createTable();
      },
      isTransient: ({ code }) => ROLLED_BACK.includes(code),
    });
  const statements =
    (run: SqlRun): RunStatement =>
    (what, build, make) =>
      run(what, async () => {
        const { sql, values } = build();
        const send = sql.includes(OUTSIDE_TRANSACTION) ? change : read;
        return make(await send(sql, values));
      });
  const columns = postgresColumns();
  const runLeases = runner(() => createLeaseTable(rowsOf, mark));
  const runSequences = runner(() => setUpSequenceTable(rowsOf, columns, mark));
  const runAlone = runner(async () => {});
  const methods = {
    ...sqlLeases(statements(runLeases), LEASES),
    ...sequenceStore(postgresRows(statements(runSequences), columns)),
    schemaVersion: () => runAlone('schemaVersion', admit),
    durable: true,
  };
  return giveSqlAccess(makeStore('postgres', methods, own), admittedAccess(access, admit));
}
