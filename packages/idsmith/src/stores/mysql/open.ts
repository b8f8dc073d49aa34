import { loadPackage } from '../../support/load-package.js';
import { ownedStore } from '../owned-store.js';
import type { Store } from '../store.js';
import { refuseMisspeltSettings, requireServerUrl } from '../url.js';
import { mysqlStore } from './store.js';

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
export async function openMysql(url: string): Promise<Store> {
  const uri = requireServerUrl(url);
  refuseMisspeltSettings(url, SETTINGS);
  const { default: mysql } = await loadPackage('mysql2', () => import('mysql2/promise'));
  const pool = mysql.createPool({ uri, supportBigNumbers: true, bigNumberStrings: true });
  return ownedStore(mysqlStore(pool), () => pool.end());
}
