import { InvalidOptionError } from '../errors.js';
import { refuse } from '../options.js';
import { schemeOf } from './driver.js';
import { memoryStore, type Store } from './memory/store.js';

type Opener = (url: string) => Promise<Store>;

const postgres: Opener = async (url) => (await import('./postgres/store.js')).openPostgres(url);
const mysql: Opener = async (url) => (await import('./mysql/store.js')).openMysql(url);
const http: Opener = async (url) => (await import('./http/store.js')).openHttp(url);
const redis: Opener = async (url) => (await import('./redis/store.js')).openRedis(url);

const openMemory: Opener = async (url) => {
  // Two URLs with the same name would be two stores, which nobody expects who gives a name.
  if (!/^memory:(\/\/)?$/.test(url)) refuse('url', 'memory: and nothing else', url);
  return memoryStore();
};

/** What opens the URLs of each scheme. A store and its driver are loaded only when one of its URLs is opened. */
const OPENERS = new Map<string, Opener>([
  ['memory', openMemory],
  ['sqlite', async (url) => (await import('./sqlite/store.js')).openSqlite(url)],
  ['postgres', postgres],
  ['postgresql', postgres],
  ['mysql', mysql],
  ['mariadb', mysql],
  ['redis', redis],
  ['rediss', redis],
  ['dynamodb', async (url) => (await import('./dynamodb/store.js')).openDynamodb(url)],
  ['etcd', async (url) => (await import('./etcd/store.js')).openEtcd(url)],
  ['http', http],
  ['https', http],
]);

/**
 * The store at a URL, with a client of its own, which `close()` ends. Servers are first talked to when the store is
 * first used.
 *
 * | URL | store | package |
 * |---|---|---|
 * | `memory:` | in this process | |
 * | `sqlite:./ids.db`, `sqlite::memory:` | SQLite | `libsql` where there is no `node:sqlite` |
 * | `postgres://user:password@host:5432/database` | PostgreSQL | `pg` |
 * | `mysql://user:password@host:3306/database` | MySQL, MariaDB | `mysql2` |
 * | `redis://user:password@host:6379/0` | Redis | `ioredis` |
 * | `dynamodb://region/table` | DynamoDB | `@aws-sdk/client-dynamodb` |
 * | `etcd://host:2379,host:2379` | etcd | |
 * | `https://token@host:7600` | an idsmith server, which is asked at once what it promises | |
 *
 * @throws InvalidOptionError if the scheme is unknown or the URL malformed; it never shows the URL's password
 * @throws StoreError if the driver is not installed, or a file cannot be opened
 *
 * @example
 * const store = await openStore('sqlite:./ids.db');
 */
export async function openStore(url: string): Promise<Store> {
  if (typeof url !== 'string') refuse('url', 'text', url);
  const scheme = schemeOf(url);
  const open = OPENERS.get(scheme);
  if (open) return open(`${scheme}${url.slice(scheme.length)}`);
  const known = [...OPENERS.keys()].map((name) => `${name}:`).join(', ');
  const problem = scheme === '' ? 'it has no scheme' : `${scheme}: is unknown`;
  throw new InvalidOptionError(`url must start with one of ${known}; ${problem}`);
}
