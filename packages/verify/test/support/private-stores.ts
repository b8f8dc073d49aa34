import { cp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { behindProxy } from '@idsmith/verify';
import type { ServiceName } from '#services/binaries.ts';
import { startDynalite } from '#services/dynalite.ts';
import { startMariadb } from '#services/mariadb.ts';
import { startPgbouncer } from '#services/pgbouncer.ts';
import { startPostgres } from '#services/postgres.ts';
import { type RedisServer, startRedis } from '#services/redis.ts';
import { startIdsmith } from '../../../server/test/support/process.ts';
import type { Family } from '../../src/families.ts';
import { FaultyProxy } from '../../src/proxy/faulty-proxy.ts';
import { NODE_IDS, type TrialSetup, type TrialStore, TTL } from '../../src/runs/trial-store.ts';
import {
  startEtcdCluster,
  startGaleraStore,
  startRedisClusterStore,
  startSentinelStore,
} from './clusters.ts';
import { startPromotedMariadb, startPromotedPostgres, startReplacedSqlite } from './going-back.ts';

/** How to start a private store, and the services that it needs. */
interface PrivateSetup extends TrialSetup {
  readonly services: readonly ServiceName[];
}

const LEASED: readonly Family[] = ['flakes', 'locality', 'uuid7'];
const ALL: readonly Family[] = [...LEASED, 'sequences'];
/** The weights of the nodes of the ring. */
const WEIGHTS = [1, 2, 1];

const common = { families: ALL, hasClock: true, maxSkew: 200, minting: NODE_IDS, services: [] };

/** The stores by the names that `npm run lab -- chaos` takes. */
export const CHAOS_STORES = {
  sqlite: { ...common, start: startSqlite },
  // Newcomers wait for half a minute after each loss.
  'sqlite-replaced': { ...common, start: startReplacedSqlite },
  'postgres-promoted': { ...common, services: ['postgres'], start: startPromotedPostgres },
  'mariadb-promoted': { ...common, services: ['mariadb'], start: startPromotedMariadb },
  postgres: {
    ...common,
    services: ['postgres'],
    start: async () => behindProxy(await startPostgres()),
  },
  pgbouncer: { ...common, services: ['postgres', 'pgbouncer'], start: startBouncedPostgres },
  mariadb: { ...common, services: ['mariadb'], start: async () => behindProxy(await startMariadb()) },
  galera: { ...common, services: ['mariadb', 'galera'], start: startGaleraStore },
  // Its sequences stop after a restart, by design, until somebody says where they go on.
  redis: { ...common, families: LEASED, services: ['redis'], start: startVolatileRedis },
  'redis-durable': {
    ...common,
    services: ['redis'],
    start: async () => behindProxy(await startRedis({ persistence: 'aof' }), (url) => `${url}?durable=true`),
  },
  'redis-cluster': { ...common, services: ['redis'], start: () => startRedisClusterStore(false) },
  'redis-cluster-url': { ...common, services: ['redis'], start: () => startRedisClusterStore(true) },
  'redis-sentinel': { ...common, families: LEASED, services: ['redis'], start: startSentinelStore },
  // It has no clock, so those that are ahead take node ids into the future, where nobody else can use them.
  dynamodb: { ...common, hasClock: false, minting: 3, start: startDynamodb },
  // Its clock has whole seconds.
  etcd: { ...common, maxSkew: 1000, services: ['etcd'], start: startEtcdCluster },
} satisfies Record<string, PrivateSetup>;

export type ChaosStoreName = keyof typeof CHAOS_STORES;

const {
  'sqlite-replaced': _replaced,
  'postgres-promoted': _promoted,
  'mariadb-promoted': _promotedMariadb,
  pgbouncer: _pooler,
  'redis-cluster': _cluster,
  'redis-cluster-url': _clusterByUrl,
  'redis-sentinel': _sentinel,
  galera: _galera,
  ...shared
} = CHAOS_STORES;

/** The stores by the names that `npm run lab -- soak` takes. */
export const SOAK_STORES: Readonly<Record<string, TrialSetup>> = {
  memory: { ...common, hasClock: false, isInProcess: true, start: startMemory },
  ...shared,
  http: { ...common, maxSkew: 1000, start: startServer },
  ring: { ...common, families: ['keys'], maxSkew: 500, start: startRing },
};

/** PostgreSQL behind PgBouncer in transaction mode. Faults are those of PgBouncer, and of the server behind it. */
async function startBouncedPostgres(): Promise<TrialStore> {
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

async function startVolatileRedis(): Promise<TrialStore> {
  const server = await startRedis({ persistence: 'aof' });
  let url = '';
  const store = await behindProxy(server, (proxied) => {
    url = proxied;
    return `${url}?maxTtl=${TTL}`;
  });
  return {
    ...store,
    long: { target: { url: `${url}?maxTtl=${2 * TTL}` }, ttl: 2 * TTL },
    faults: {
      ...store.faults,
      'store restarted empty': () => server.restart({ empty: true }),
      'store went back': () => goBack(server),
    },
  };
}

/** Restarts a Redis with the data that it had a while ago, as from a backup. */
async function goBack(server: RedisServer): Promise<void> {
  const [data, backup] = [join(server.dir, 'data'), join(server.dir, 'backup')];
  await cp(data, backup, { recursive: true });
  await sleep(1.5 * TTL);
  await server.shutdown();
  await rm(data, { recursive: true });
  await rename(backup, data);
  await server.start();
}

/** DynamoDB's stand-in. It has no clock to ask for. */
async function startDynamodb(): Promise<TrialStore> {
  // For dynalite, which takes any.
  const credentials = { AWS_ACCESS_KEY_ID: 'chaos', AWS_SECRET_ACCESS_KEY: 'chaos' };
  Object.assign(process.env, credentials, { AWS_EC2_METADATA_DISABLED: 'true' });
  return behindProxy(await startDynalite(), (url) => `dynamodb://eu-west-1/chaos?endpoint=${url}`);
}

/** One file for all processes. There is no server to crash: its fault is a writer that takes its time. */
async function startSqlite(folder: string): Promise<TrialStore> {
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

async function startMemory(): Promise<TrialStore> {
  return { target: { url: 'memory:' }, proxies: [], faults: {}, async stop() {} };
}

/** The real server, on a file of SQLite. */
async function startServer(folder: string): Promise<TrialStore> {
  const server = await startIdsmith('--store', `sqlite:${join(folder, 'server.db')}`);
  return behindProxy(server);
}

/** A few Redis nodes for keys, each behind a proxy. */
async function startRing(): Promise<TrialStore> {
  const servers = await Promise.all(WEIGHTS.map(() => startRedis({ persistence: 'aof' })));
  const proxies = await Promise.all(servers.map(({ port }) => FaultyProxy.before(port)));
  const shards = Object.fromEntries(
    proxies.map(({ port }, i) => [String(i), [String(port), '127.0.0.1', WEIGHTS[i] as number] as const]),
  );
  let turn = 0;
  const next = () => servers[turn++ % servers.length]!;
  return {
    target: { shards: { shards, options: { keyTypes: { user: 2 }, maxSkew: TTL / 4 } } },
    proxies,
    faults: {
      'store restarted': () => next().restart(),
      'store crashed': async () => {
        const server = next();
        await server.kill();
        await server.start();
      },
      'store restarted empty': () => next().restart({ empty: true }),
    },
    async stop() {
      await Promise.all(proxies.map((proxy) => proxy.close()));
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}
