import { sequenceStore } from '../../sequence/rows.js';
import { makeStore, type OwnClient } from '../make-store.js';
import { type SqlStoreOptions, sqlTimeout } from '../sql/options.js';
import { sqlRunner } from '../sql/runner.js';
import type { DisposableStore } from '../store.js';
import { type MysqlClient, queryWithTimeout } from './client.js';
import { createLeaseTable, mysqlLeases } from './leases.js';
import { mysqlColumns, mysqlRows, setUpSequenceTable } from './sequences.js';
import { requireAutocommit } from './transaction-guard.js';

/** Options of a MySQL store. */
export type MysqlStoreOptions = SqlStoreOptions;

/** ER_CHECKREAD, ER_LOCK_DEADLOCK: the statement was rolled back. A lock wait that timed out has been long enough. */
const ROLLED_BACK: readonly unknown[] = [1020, 1213];

/**
 * A store in MySQL or MariaDB. The first use of leases creates the table `idsmith_leases`, the first use of sequences creates
 * `id_sequences`, both in the connection's database. An `id_sequences` that another program has created gets the columns that
 * are missing.
 *
 * The client stays yours: `close()` does not end it. A change on a connection that is inside a transaction is refused, because a
 * rollback would undo it. The client's settings for big numbers, character sets and time zones do not matter.
 *
 * @throws InvalidOptionError if `timeout` is not a number of ms
 */
export function mysqlStore(client: MysqlClient, options: MysqlStoreOptions = {}): DisposableStore {
  return storeOn(client, options);
}

/** A store on a client, for `mysqlStore` and `openMysql`. */
export function storeOn(client: MysqlClient, options: MysqlStoreOptions, own?: OwnClient): DisposableStore {
  const query = queryWithTimeout(client, sqlTimeout(options));
  const runner = (createTable: () => Promise<void>) =>
    sqlRunner({
      name: 'mysql',
      at: own?.at,
      setUp: async () => {
        await requireAutocommit(query);
        await createTable();
      },
      isTransient: ({ errno }) => ROLLED_BACK.includes(errno),
    });
  const columns = mysqlColumns();
  const runLeases = runner(() => createLeaseTable(query));
  const runSequences = runner(() => setUpSequenceTable(query, columns));
  const methods = {
    ...mysqlLeases(runLeases, query),
    ...sequenceStore(mysqlRows(runSequences, { query, columns })),
    durable: true,
  };
  return makeStore('mysql', methods, own);
}
