import { InvalidOptionError } from '../errors.js';
import { nearestName, refuse } from '../options.js';
import { memoryStore } from './memory/store.js';
import type { DisposableStore } from './store.js';
import { schemeOf } from './url.js';

type Opener = (url: string) => Promise<DisposableStore>;

const postgres: Opener = async (url) => (await import('./postgres/open.js')).openPostgres(url);
const mysql: Opener = async (url) => (await import('./mysql/open.js')).openMysql(url);
const http: Opener = async (url) => (await import('./http/open.js')).openHttp(url);
const redis: Opener = async (url) => (await import('./redis/open.js')).openRedis(url);

const openMemory: Opener = async (url) => {
  // Two URLs with the same name would be two stores. Users who give a name expect one.
  if (!/^memory:(\/\/)?$/.test(url)) refuse('url', 'memory: and nothing else', url);
  return memoryStore();
};

/** The opener of each scheme. A store and its driver are loaded only when one of its URLs is opened. */
const OPENERS = new Map<string, Opener>([
  ['memory', openMemory],
  ['sqlite', async (url) => (await import('./sqlite/open.js')).openSqlite(url)],
  ['postgres', postgres],
  ['postgresql', postgres],
  ['mysql', mysql],
  ['mariadb', mysql],
  ['redis', redis],
  ['rediss', redis],
  ['dynamodb', async (url) => (await import('./dynamodb/open.js')).openDynamodb(url)],
  ['etcd', async (url) => (await import('./etcd/open.js')).openEtcd(url)],
  ['http', http],
  ['https', http],
]);

/**
 * The store of a URL, with a client of its own that `close()` ends. The first call of the store opens the first connection to
 * the server.
 *
 * | URL | store | package |
 * |---|---|---|
 * | `memory:` | in this process | |
 * | `sqlite:./ids.db`, `sqlite::memory:` | SQLite | `libsql` where there is no `node:sqlite` |
 * | `postgres://user:password@host:5432/database` | PostgreSQL | `pg` |
 * | `mysql://user:password@host:3306/database` | MySQL, MariaDB | `mysql2` |
 * | `redis://user:password@host:6379/0` | Redis | `redis`, or else `ioredis` |
 * | `dynamodb://region/table` | DynamoDB | `@aws-sdk/client-dynamodb` |
 * | `etcd://host:2379,host:2379` | etcd | |
 * | `https://token@host:7600` | an idsmith server; asked for its capabilities at once | |
 *
 * @throws InvalidOptionError if the scheme is unknown or the URL malformed; the message never shows the password
 * @throws StoreError if the driver is not installed, or a file cannot be opened
 *
 * @example
 * const store = await openStore('sqlite:./ids.db');
 */
export async function openStore(url: string): Promise<DisposableStore> {
  if (typeof url !== 'string') refuse('url', 'text', url);
  const scheme = schemeOf(url);
  const open = OPENERS.get(scheme);
  if (open) return open(`${scheme}${url.slice(scheme.length)}`);
  const known = [...OPENERS.keys()].map((name) => `${name}:`).join(', ');
  throw new InvalidOptionError(`url must start with one of ${known}; ${problemOf(url, scheme)}`);
}

/** The reason why a URL has no store, and the one that may be meant. Shows nothing that could be a password. */
function problemOf(url: string, scheme: string): string {
  if (scheme === '') {
    const isFile = /^[\w./-]+\.(db|sqlite3?)$/.test(url);
    return isFile ? `for the file ${url}, write sqlite:${url}` : 'it has no scheme';
  }
  if (scheme === 'oracle') return 'for Oracle, give oracleStore(pool) of idsmith/stores/oracle';
  const nearest = nearestName(scheme, [...OPENERS.keys()]);
  return `${scheme}: is unknown${nearest === undefined ? '' : `; did you mean ${nearest}:?`}`;
}
