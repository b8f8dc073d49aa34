import { packageError } from '../../support/load-package.js';
import { sqlTimeout } from '../sql/options.js';
import type { DisposableStore } from '../store.js';
import { addressOf, refuseMisspeltSettings, requireServerUrl } from '../url.js';
import { lockWait } from './client.js';
import { storeOn } from './store.js';

/** Settings after the `?` of a URL: those of `mysql2` that text can express. */
const SETTINGS = [
  ...['host', 'port', 'user', 'password', 'database', 'charset', 'timezone', 'ssl', 'flags', 'socketPath'],
  ...['connectionLimit', 'maxIdle', 'idleTimeout', 'queueLimit', 'waitForConnections', 'connectTimeout'],
  ...['enableKeepAlive', 'keepAliveInitialDelay', 'localAddress', 'compress', 'debug', 'trace', 'typeCast'],
  ...['supportBigNumbers', 'bigNumberStrings', 'dateStrings', 'decimalNumbers', 'jsonStrings', 'rowsAsArray'],
  ...['multipleStatements', 'namedPlaceholders', 'nestTables', 'stringifyObjects', 'insecureAuth'],
];

/**
 * The store of a URL like `mysql://user:password@host:3306/database`, with a pool of its own that `close()` ends.
 *
 * @throws InvalidOptionError when the URL cannot be parsed, or a setting is misspelt
 * @throws StoreError when `mysql2` is not installed
 */
export async function openMysql(url: string): Promise<DisposableStore> {
  const uri = requireServerUrl(url);
  refuseMisspeltSettings(url, SETTINGS);
  const { default: mysql } = await loadMysql2();
  const pool = patientPool(mysql, uri);
  return storeOn(pool, {}, { at: addressOf(url, 3306), end: () => pool.end() });
}

/**
 * A pool whose connections wait for a row lock only as long as callers do. MariaDB has such a limit for each statement, MySQL only
 * for a session, and the sessions of other pools are not the store's to change.
 */
export function patientPool(mysql: Pick<typeof import('mysql2/promise'), 'createPool'>, uri: string) {
  const pool = mysql.createPool({ uri, supportBigNumbers: true, bigNumberStrings: true });
  const limit = `SET SESSION innodb_lock_wait_timeout = ${lockWait(sqlTimeout({}))}`;
  pool.on('connection', (connection) => {
    // A connection that fails here fails at its first statement, too.
    (connection as unknown as { query(sql: string, done: () => void): void }).query(limit, () => {});
  });
  return pool;
}

async function loadMysql2() {
  try {
    return await import('mysql2/promise');
  } catch (error) {
    throw packageError('mysql2', error);
  }
}
