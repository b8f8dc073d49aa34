import type { SqlAdapter } from '../../drivers/port.js';
import { packageError } from '../../support/load-package.js';
import type { OwnClient } from '../make-store.js';
import { mysql } from '../sql/dialect.js';
import { LINEAGE_SETTINGS, takeLineageOptions } from '../sql/lineage.js';
import {
  type Ask,
  requireTransactions,
  type ServerStoreOptions,
  serverOptions,
  serverStore,
  sqlTimeout,
} from '../sql/session.js';
import type { DisposableStore } from '../store.js';
import { addressOf, refuseMisspeltSettings, requireServerUrl } from '../url.js';
import { MysqlLineage } from './lineage.js';
import {
  lockWait,
  type MysqlCallbackClient,
  type MysqlClient,
  MysqlSession,
  mysqlDriver,
} from './session.js';
import { createLeaseTable, mysqlMarker, setUpPasts, setUpSequenceTable } from './tables.js';

/** Options of a MySQL store. */
export type MysqlStoreOptions = ServerStoreOptions;

/**
 * A store in MySQL or MariaDB. The first use of leases creates the table `idsmith_leases`, the first use of sequences creates
 * `id_sequences` and `idsmith_pasts`, all in the connection's database, and with them `idsmith_schema`. An `id_sequences` that
 * another program has created gets the columns that are missing.
 *
 * The client stays yours: `close()` does not end it. A change on a connection that is inside a transaction is refused, because a
 * rollback would undo it. The client's settings for big numbers, character sets and time zones do not matter.
 *
 * @param client a pool or connection of `mysql2/promise` or `mysql2`, or an adapter of your own with `transaction`
 * @throws InvalidOptionError if an option is wrong, or `client` is none of these
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

/** Settings after the `?` of a URL: those of `mysql2` that text can express. */
const SETTINGS = [
  'host',
  'port',
  'user',
  'password',
  'database',
  'charset',
  'timezone',
  'ssl',
  'flags',
  'socketPath',
  'connectionLimit',
  'maxIdle',
  'idleTimeout',
  'queueLimit',
  'waitForConnections',
  'connectTimeout',
  'enableKeepAlive',
  'keepAliveInitialDelay',
  'localAddress',
  'compress',
  'debug',
  'trace',
  'typeCast',
  'supportBigNumbers',
  'bigNumberStrings',
  'dateStrings',
  'decimalNumbers',
  'jsonStrings',
  'rowsAsArray',
  'multipleStatements',
  'namedPlaceholders',
  'nestTables',
  'stringifyObjects',
  'insecureAuth',
  ...LINEAGE_SETTINGS,
];

/**
 * The store of a URL like `mysql://user:password@host:3306/database`, with a pool of its own that `close()` ends.
 *
 * @throws InvalidOptionError when the URL cannot be parsed, or a setting is misspelt
 * @throws StoreError when `mysql2` is not installed
 */
export async function openMysql(url: string): Promise<DisposableStore> {
  requireServerUrl(url);
  refuseMisspeltSettings(url, SETTINGS);
  const [uri, options] = takeLineageOptions(url);
  const { default: mysql2 } = await loadMysql2();
  const pool = patientPool(mysql2, uri);
  letProcessEnd(pool);
  return storeOn(pool, options, { at: addressOf(url, 3306), end: () => pool.end() });
}

/** Options of `mysql2` for a pool. Written out, because programs without `mysql2` have none of its types. */
interface PoolOptions {
  readonly uri: string;
  readonly supportBigNumbers: boolean;
  readonly bigNumberStrings: boolean;
}

/**
 * A pool whose connections wait for a row lock only as long as callers do. MariaDB has such a limit for each statement, MySQL only
 * for a session, and the sessions of other pools are not the store's to change.
 */
export function patientPool<
  Pool extends { on(event: 'connection', listener: (made: object) => void): unknown },
>(mysql2: { createPool(options: PoolOptions): Pool }, uri: string): Pool {
  const pool = mysql2.createPool({ uri, supportBigNumbers: true, bigNumberStrings: true });
  const limit = `SET SESSION innodb_lock_wait_timeout = ${lockWait(sqlTimeout({}))}`;
  pool.on('connection', (connection) => {
    // A connection that fails here fails at its first statement, too.
    (connection as { query(sql: string, done: () => void): void }).query(limit, () => {});
  });
  return pool;
}

/** Lets the process end while connections of the pool are idle, as on every store. Only a call under way keeps it alive. */
function letProcessEnd(pool: {
  on(event: 'acquire' | 'release', listener: (made: object) => void): unknown;
}) {
  const socketOf = (made: object) => (made as { stream?: { ref?(): void; unref?(): void } }).stream;
  pool.on('acquire', (made) => socketOf(made)?.ref?.());
  pool.on('release', (made) => socketOf(made)?.unref?.());
}

async function loadMysql2() {
  try {
    return await import('mysql2/promise');
  } catch (error) {
    throw packageError('mysql2', error);
  }
}

const SERVER = {
  kind: 'mysql',
  dialect: mysql,
  marker: mysqlMarker,
  createLeaseTable,
  setUpSequenceTable,
  setUpPasts,
  lineage: (ask: Ask, isLossless: boolean) => new MysqlLineage(ask, isLossless),
} as const;

/** A store on a client, for `mysqlStore` and `openMysql`. */
function storeOn(
  client: MysqlClient | MysqlCallbackClient | SqlAdapter,
  options: MysqlStoreOptions,
  own?: OwnClient,
): DisposableStore {
  const settings = serverOptions(options);
  const session = new MysqlSession(requireTransactions(mysqlDriver(client)), settings.timeout, own?.at);
  return serverStore(SERVER, session, settings, own);
}
