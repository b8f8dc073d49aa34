import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ServiceName } from '../services/binaries.ts';
import { startDynalite } from '../services/dynalite.ts';
import { startMariadb } from '../services/mariadb.ts';
import { startPgbouncer } from '../services/pgbouncer.ts';
import { startPostgres } from '../services/postgres.ts';
import type { ServerProcess } from '../services/process.ts';
import { startRedis } from '../services/redis.ts';
import { startEtcdCluster, startRedisClusterStore } from './clusters.ts';
import type { Target } from './minter.ts';
import { type FaultyProxy, proxyBefore } from './proxy.ts';
import { NODE_IDS, TTL } from './settings.ts';

/** A store under torment. */
export interface ChaosStore {
  /** What minters open: the way through the proxies. */
  readonly target: Target;
  /** Where the store can forget: another way in for clients with a higher limit, and the ttl of their leases. */
  readonly long?: { readonly target: Target; readonly ttl: number };
  readonly proxies: readonly FaultyProxy[];
  /** What can befall the store itself. Each fault is over when its promise is. */
  readonly faults: Readonly<Record<string, () => Promise<void>>>;
  stop(): Promise<void>;
}

/** How to torment a store. */
export interface ChaosSetup {
  readonly services: readonly ServiceName[];
  /** Whether it has a clock, and so can tell a wrong one. */
  readonly hasClock: boolean;
  /** What it takes a clock to be wrong, ms. */
  readonly maxSkew: number;
  /** How many processes must mint again when all faults are over. */
  readonly minting: number;
  start(folder: string): Promise<ChaosStore>;
}

const common = { hasClock: true, maxSkew: 200, minting: NODE_IDS, services: [] };

/** The stores by the names that `npm run chaos` takes. */
export const STORES = {
  sqlite: { ...common, start: startSqlite },
  postgres: {
    ...common,
    services: ['postgres'],
    start: async () => behindProxy(await startPostgres()),
  },
  pgbouncer: { ...common, services: ['postgres', 'pgbouncer'], start: startBouncedPostgres },
  mariadb: { ...common, services: ['mariadb'], start: async () => behindProxy(await startMariadb()) },
  redis: { ...common, services: ['redis'], start: startForgetfulRedis },
  'redis-durable': {
    ...common,
    services: ['redis'],
    start: async () => behindProxy(await startRedis({ persistence: 'aof' }), (url) => `${url}?durable=true`),
  },
  'redis-cluster': { ...common, services: ['redis'], start: () => startRedisClusterStore() },
  // It has no clock, so those that are ahead take node ids into the future, where nobody else can use them.
  dynamodb: { ...common, hasClock: false, minting: 3, start: startDynamodb },
  // Its clock has whole seconds.
  etcd: { ...common, maxSkew: 1000, services: ['etcd'], start: startEtcdCluster },
} satisfies Record<string, ChaosSetup>;

export type StoreName = keyof typeof STORES;

/** A server behind a proxy, to be restarted and crashed. */
export async function behindProxy(
  server: ServerProcess,
  urlOf: (proxied: string) => string = (proxied) => proxied,
): Promise<ChaosStore> {
  const proxy = await proxyBefore(server.port);
  return {
    target: { url: urlOf(server.url.replace(`:${server.port}`, `:${proxy.port}`)) },
    proxies: [proxy],
    faults: {
      'store restarted': () => server.restart(),
      'store crashed': async () => {
        await server.kill();
        await server.start();
      },
      'store paused': async () => {
        server.pause();
        await sleep(TTL / 2);
        server.resume();
      },
    },
    async stop() {
      await proxy.close();
      await server.stop();
    },
  };
}

/** PostgreSQL behind PgBouncer in transaction mode. Faults befall PgBouncer, and the server behind it. */
async function startBouncedPostgres(): Promise<ChaosStore> {
  const server = await startPostgres();
  const store = await behindProxy(await startPgbouncer(server, { poolSize: 4 }));
  return {
    ...store,
    faults: { ...store.faults, 'server behind it restarted': () => server.restart() },
    async stop() {
      await store.stop();
      await server.stop();
    },
  };
}

async function startForgetfulRedis(): Promise<ChaosStore> {
  const server = await startRedis({ persistence: 'aof' });
  let url = '';
  const store = await behindProxy(server, (proxied) => {
    url = proxied;
    return `${url}?maxTtl=${TTL}`;
  });
  return {
    ...store,
    long: { target: { url: `${url}?maxTtl=${2 * TTL}` }, ttl: 2 * TTL },
    faults: { ...store.faults, 'store restarted empty': () => server.restart({ empty: true }) },
  };
}

/** DynamoDB's stand-in. It has no clock to ask for. */
async function startDynamodb(): Promise<ChaosStore> {
  return behindProxy(await startDynalite(), (url) => `dynamodb://eu-west-1/chaos?endpoint=${url}`);
}

/** One file for all processes. There is no server to crash: what befalls it is a writer that takes its time. */
async function startSqlite(folder: string): Promise<ChaosStore> {
  const { default: Database } = await import('libsql');
  const file = join(folder, 'store.db');
  return {
    target: { url: `sqlite:${file}` },
    proxies: [],
    faults: {
      'file locked': async () => {
        const db = new Database(file);
        db.exec('PRAGMA busy_timeout = 0');
        // SQLite has no queue: whoever asks at the right moment has the lock.
        while (!canLock(db)) await sleep(5);
        await sleep(TTL);
        db.close();
      },
    },
    async stop() {},
  };
}

/** Takes the lock of a file for writing, unless somebody else has it. */
function canLock(db: { exec(sql: string): unknown }): boolean {
  try {
    db.exec('BEGIN IMMEDIATE');
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== 'SQLITE_BUSY') throw error;
    return false;
  }
}
