import { packageError } from '../../support/load-package.js';
import type { DisposableStore } from '../store.js';
import { addressOf, refuseMisspeltSettings, requireServerUrl } from '../url.js';
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
  const pool = mysql.createPool({ uri, supportBigNumbers: true, bigNumberStrings: true });
  return storeOn(pool, {}, { at: addressOf(url, 3306), end: () => pool.end() });
}

async function loadMysql2() {
  try {
    return await import('mysql2/promise');
  } catch (error) {
    throw packageError('mysql2', error);
  }
}
