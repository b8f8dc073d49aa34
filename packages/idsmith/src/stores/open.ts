import { warn } from '#runtime';
import { InvalidOptionError } from '../errors.js';
import { nearestName, refuse, show } from '../options.js';
import { loadPackage } from '../support/load-package.js';
import { openMemory } from './memory/store.js';
import type { DisposableStore } from './store.js';
import { schemeOf } from './url.js';

type Opener = (url: string) => Promise<DisposableStore>;

const postgres: Opener = async (url) => (await import('./postgres/store.js')).openPostgres(url);
const mysql: Opener = async (url) => (await import('./mysql/store.js')).openMysql(url);
const http: Opener = async (url) => (await import('./http/store.js')).openHttp(url);
const redis: Opener = async (url) => (await import('./redis/open.js')).openRedis(url);

const memory: Opener = async (url) => {
  // Two URLs with the same name would be two stores. Users who give a name expect one.
  if (!/^memory:(\/\/)?$/.test(url)) refuse('url', 'memory: and nothing else', url);
  return openMemory();
};

const sqlite: Opener = async (url) => {
  const store = await (await import('./sqlite/store.js')).openSqlite(url);
  return /^sqlite:(\/\/)?:memory:$/.test(url) ? warnOfRepeats(store) : store;
};

const oracle: Opener = async (url) => {
  // Not a literal in the import: this package is built first, and works without the other.
  const entry = '@idsmith/oracle';
  const { openOracle } = await loadPackage<{ openOracle: Opener }>(entry, () => import(entry));
  return openOracle(url);
};

/** The opener of each scheme. A store and its driver are loaded only when one of its URLs is opened. */
const OPENERS = new Map<string, Opener>([
  ['memory', memory],
  ['sqlite', sqlite],
  ['libsql', async (url) => (await import('./libsql/store.js')).openLibsql(url)],
  ['postgres', postgres],
  ['postgresql', postgres],
  ['mysql', mysql],
  ['mariadb', mysql],
  ['oracle', oracle],
  ['redis', redis],
  ['rediss', redis],
  ['redis+cluster', redis],
  ['rediss+cluster', redis],
  ['redis+sentinel', redis],
  ['rediss+sentinel', redis],
  ['dynamodb', async (url) => (await import('./dynamodb/store.js')).openDynamodb(url)],
  ['etcd', async (url) => (await import('./etcd/store.js')).openEtcd(url)],
  ['http', http],
  ['https', http],
]);

/**
 * The store of a URL, with a client of its own that `close()` ends. The first call of the store opens the first connection to
 * the server.
 *
 * | URL | store | package |
 * |---|---|---|
 * | `memory:` | in this process, one for all who open it | |
 * | `sqlite:./ids.db`, `sqlite::memory:` | SQLite | `libsql` where there is no `node:sqlite` |
 * | `libsql://name-org.turso.io?authToken=…` | libSQL, Turso | `@libsql/client` |
 * | `postgres://user:password@host:5432/database` | PostgreSQL | `pg` |
 * | `mysql://user:password@host:3306/database` | MySQL, MariaDB | `mysql2` |
 * | `oracle://user:password@host:1521/service` | Oracle | `@idsmith/oracle` and `oracledb` |
 * | `redis://user:password@host:6379/0` | Redis | `redis`, or else `ioredis` |
 * | `redis+cluster://host:7000,host:7001` | a Redis Cluster | `redis`, or else `ioredis` |
 * | `redis+sentinel://host:26379,host:26379/master` | the master that Sentinels name | `redis`, or else `ioredis` |
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
  if (scheme === 'file') return 'for a file of SQLite, write sqlite: instead of file:';
  const nearest = nearestName(scheme, [...OPENERS.keys()]);
  return `${scheme}: is unknown${nearest === undefined ? '' : `; did you mean ${nearest}:?`}`;
}

const USERS = Symbol.for('idsmith.separate-stores');

/** The open stores that give out ids of one name. */
interface Users {
  readonly stores: Set<object>;
  isWarned: boolean;
}

/** The open stores of this process that know nothing of each other, by what they give out: `namespace "orders"`. */
function users(): Map<string, Users> {
  const realm = globalThis as { [USERS]?: Map<string, Users> };
  realm[USERS] ??= new Map();
  return realm[USERS];
}

/**
 * Warns when a second store of `sqlite::memory:` gives out ids of the same name in this process. Such a store lives in the memory of its
 * connection, so each of them begins at the first node id and the first number, and ids repeat.
 */
function warnOfRepeats(store: DisposableStore): DisposableStore {
  const { swapLease, defineSequence, close } = store;
  const use = (name: string) => {
    const found = users().get(name) ?? { stores: new Set(), isWarned: false };
    users().set(name, found);
    if (found.stores.add(store).size === 1 || found.isWarned) return;
    found.isWarned = true;
    warn(
      `this process has opened sqlite::memory: more than once, and each time a store of its own: both give out ids of ${name}, so ids ` +
        "repeat. Open it once, close() it before it is opened again, or use connect('sqlite::memory:', { shared: true })",
      'SEPARATE_STORES',
    );
  };
  const end = () => {
    for (const [name, { stores }] of users())
      if (stores.delete(store) && stores.size === 0) users().delete(name);
    return close();
  };
  return Object.assign(store, {
    async swapLease(...args: Parameters<typeof swapLease>) {
      const [namespace, , next] = args;
      const isSwapped = await swapLease(...args);
      if (isSwapped && next.id >= 0) use(`namespace ${show(namespace)}`);
      return isSwapped;
    },
    async defineSequence(...args: Parameters<typeof defineSequence>) {
      await defineSequence(...args);
      use(`sequence ${show(args[0].name)}`);
    },
    close: end,
    [Symbol.asyncDispose]: end,
  });
}
