import type { SqlAdapter } from '../../executor/port.js';
import { sequenceStore } from '../../sequence/rows.js';
import { makeStore, type OwnClient } from '../make-store.js';
import { SchemaGate } from '../schema-version.js';
import { giveSqlAccess, serverAccess } from '../sql/access.js';
import { admittedAccess } from '../sql/admitted-access.js';
import { requireTransactions } from '../sql/driver-of.js';
import { sqlLeases } from '../sql/leases.js';
import { type SqlStoreOptions, sqlTimeout } from '../sql/options.js';
import { type SqlRun, sqlRunner } from '../sql/runner.js';
import type { RunStatement } from '../sql/statement.js';
import type { DisposableStore } from '../store.js';
import { hexOf, type MysqlCallbackClient, type MysqlClient, mysqlDriver } from './client.js';
import { createLeaseTable, LEASES } from './leases.js';
import { mysqlMarker } from './schema.js';
import { mysqlColumns, mysqlRows, setUpSequenceTable } from './sequences.js';
import { mysqlSession } from './session.js';
import { requireAutocommit } from './transaction-guard.js';

/** Options of a MySQL store. */
export type MysqlStoreOptions = SqlStoreOptions;

/** ER_CHECKREAD, ER_LOCK_DEADLOCK: the statement was rolled back. A lock wait that timed out has been long enough. */
const ROLLED_BACK: readonly unknown[] = [1020, 1213];

// The level holds for the next transaction alone.
const BEGIN = ['SET TRANSACTION ISOLATION LEVEL READ COMMITTED', 'START TRANSACTION'];

/**
 * A store in MySQL or MariaDB. The first use of leases creates the table `idsmith_leases`, the first use of sequences creates
 * `id_sequences`, both in the connection's database, and with them `idsmith_schema`. An `id_sequences` that another
 * program has created gets the columns that are missing.
 *
 * The client stays yours: `close()` does not end it. A change on a connection that is inside a transaction is refused, because a
 * rollback would undo it. The client's settings for big numbers, character sets and time zones do not matter.
 *
 * @param client a pool or connection of `mysql2/promise` or `mysql2`, or an adapter of your own with `transaction`
 * @throws InvalidOptionError if `timeout` is not a number of ms, or `client` is none of these
 */
export function mysqlStore(
  client: MysqlClient | MysqlCallbackClient,
  options?: MysqlStoreOptions,
): DisposableStore;
export function mysqlStore(adapter: SqlAdapter, options?: MysqlStoreOptions): DisposableStore;
export function mysqlStore(
  client: MysqlClient | MysqlCallbackClient | SqlAdapter,
  options: MysqlStoreOptions = {},
): DisposableStore {
  return storeOn(client, options);
}

/** A store on a client, for `mysqlStore` and `openMysql`. */
export function storeOn(
  client: MysqlClient | MysqlCallbackClient | SqlAdapter,
  options: MysqlStoreOptions,
  own?: OwnClient,
): DisposableStore {
  const timeout = sqlTimeout(options);
  const driver = requireTransactions(mysqlDriver(client));
  const { query, change } = mysqlSession(driver, timeout);
  const schema = new SchemaGate('mysql', mysqlMarker(query));
  const admit = () => schema.admit();
  const mark = () => schema.mark();
  const runner = (createTable: () => Promise<void>) =>
    sqlRunner({
      name: 'mysql',
      at: own?.at,
      setUp: async () => {
        await requireAutocommit(query);
        await admit();
        await createTable();
      },
      isTransient: ({ errno }) => ROLLED_BACK.includes(errno),
    });
  const statements =
    (run: SqlRun): RunStatement =>
    (what, build, make) =>
      run(what, async () => {
        const { sql, values } = build();
        if (sql.startsWith('SELECT')) return make(await query(sql, values));
        const answer = await change(sql, values);
        return make(answer === 0 ? [] : [[answer]]);
      });
  const columns = mysqlColumns();
  const runLeases = runner(() => createLeaseTable(query, mark));
  const runSequences = runner(() => setUpSequenceTable(query, columns, mark));
  const runAlone = runner(async () => {});
  const methods = {
    ...sqlLeases(statements(runLeases), LEASES, hexOf),
    ...sequenceStore(mysqlRows(statements(runSequences), columns)),
    schemaVersion: () => runAlone('schemaVersion', admit),
    durable: true,
  };
  const access = admittedAccess(serverAccess(driver, { timeout, outside: query, begin: () => BEGIN }), admit);
  return giveSqlAccess(makeStore('mysql', methods, own), access);
}
