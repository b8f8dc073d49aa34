import { sequenceStore } from '../../sequence/rows.js';
import { makeStore, type OwnClient } from '../make-store.js';
import { type SqlStoreOptions, sqlTimeout } from '../sql/options.js';
import { sqlRunner } from '../sql/runner.js';
import type { DisposableStore } from '../store.js';
import { type PostgresClient, queryWithTimeout } from './client.js';
import { createLeaseTable, postgresLeases } from './leases.js';
import { postgresColumns, postgresRows, setUpSequenceTable } from './sequences.js';
import { transactionGuard } from './transaction-guard.js';

/** Options of a PostgreSQL store. */
export type PostgresStoreOptions = SqlStoreOptions;

/** serialization_failure, deadlock_detected: the server has rolled the statement back. */
const ROLLED_BACK: readonly unknown[] = ['40001', '40P01'];

/**
 * A store in PostgreSQL. The first use of leases creates the table `idsmith_leases`, the first use of sequences creates
 * `id_sequences`, both in the first schema of the search path. An `id_sequences` that another program has created gets the
 * columns that are missing.
 *
 * The client stays yours: `close()` does not end it. A `pg.Pool` needs a listener for `'error'`; without one the process ends
 * when the server does. A change on a connection that is inside a transaction is refused, because a rollback would undo it.
 *
 * @throws InvalidOptionError if `timeout` is not a number of ms
 */
export function postgresStore(client: PostgresClient, options: PostgresStoreOptions = {}): DisposableStore {
  return storeOn(client, options);
}

/** A store on a client, for `postgresStore` and `openPostgres`. */
export function storeOn(
  client: PostgresClient,
  options: PostgresStoreOptions,
  own?: OwnClient,
): DisposableStore {
  const rowsOf = queryWithTimeout(client, sqlTimeout(options));
  const { prepare, read, change } = transactionGuard(rowsOf);
  const runner = (createTable: () => Promise<void>) =>
    sqlRunner({
      name: 'postgres',
      at: own?.at,
      setUp: async () => {
        await prepare();
        await createTable();
      },
      isTransient: ({ code }) => ROLLED_BACK.includes(code),
    });
  const columns = postgresColumns();
  const runLeases = runner(() => createLeaseTable(rowsOf));
  const runSequences = runner(() => setUpSequenceTable(rowsOf, columns));
  const methods = {
    ...postgresLeases(runLeases, rowsOf, change),
    ...sequenceStore(postgresRows(runSequences, { rowsOf: read, change, columns })),
    durable: true,
  };
  return makeStore('postgres', methods, own);
}
