import { join } from 'node:path';
import { startIdsmith } from '../../packages/server/test/support/process.ts';
import { proxyBefore } from '../chaos/proxy.ts';
import { TTL } from '../chaos/settings.ts';
import { behindProxy, type ChaosSetup, type ChaosStore, STORES } from '../chaos/stores.ts';
import { startRedis } from '../services/redis.ts';
import type { FamilyName } from './record.ts';

/** What a process opens: the URL of a store, or the config of a ring of Redis nodes. */
export type SoakTarget = { readonly url: string } | { readonly shards: object };

/** A store, or a ring, under torment. */
export interface SoakStore extends Pick<ChaosStore, 'proxies' | 'faults' | 'stop'> {
  readonly target: SoakTarget;
}

/** How to torment a store. */
export interface SoakSetup {
  readonly families: readonly FamilyName[];
  /** Whether it has a clock, and so can tell a wrong one. */
  readonly hasClock: boolean;
  /** What it takes a clock to be wrong, ms. */
  readonly maxSkew: number;
  /** Whether it lives and dies with its one process. */
  readonly isInProcess?: boolean;
  start(folder: string): Promise<SoakStore>;
}

const LEASED: readonly FamilyName[] = ['flake', 'locality', 'uuid7'];
const ALL: readonly FamilyName[] = [...LEASED, 'sequence'];
/** The weights of the nodes of the ring. */
const WEIGHTS = [1, 2, 1];

function asInChaos({ hasClock, maxSkew, start }: ChaosSetup, families = ALL): SoakSetup {
  return {
    ...{ families, hasClock, maxSkew },
    async start(folder) {
      const { target, ...rest } = await start(folder);
      if (!('url' in target)) throw new Error('a soak run opens stores by their URLs');
      return { ...rest, target };
    },
  };
}

/** What `npm run soak` runs on, by the names that it takes. */
export const SOAK_STORES: Readonly<Record<string, SoakSetup>> = {
  memory: { families: ALL, hasClock: false, maxSkew: 200, isInProcess: true, start: startMemory },
  sqlite: asInChaos(STORES.sqlite),
  postgres: asInChaos(STORES.postgres),
  mariadb: asInChaos(STORES.mariadb),
  // Its sequences stop after a restart, by design, until somebody says where they go on.
  redis: asInChaos(STORES.redis, LEASED),
  'redis-durable': asInChaos(STORES['redis-durable']),
  dynamodb: asInChaos(STORES.dynamodb),
  etcd: asInChaos(STORES.etcd),
  http: { families: ALL, hasClock: true, maxSkew: 1000, start: startServer },
  ring: { families: ['key'], hasClock: true, maxSkew: 500, start: startRing },
};

async function startMemory(): Promise<SoakStore> {
  return { target: { url: 'memory:' }, proxies: [], faults: {}, async stop() {} };
}

/** The real server, on a file of SQLite. */
async function startServer(folder: string): Promise<SoakStore> {
  const server = await startIdsmith('--store', `sqlite:${join(folder, 'server.db')}`);
  const { target, ...rest } = await behindProxy(server);
  return { ...rest, target: target as { url: string } };
}

/** A few Redis nodes for keys, each behind a proxy. */
async function startRing(): Promise<SoakStore> {
  const servers = await Promise.all(WEIGHTS.map(() => startRedis({ persistence: 'aof' })));
  const proxies = await Promise.all(servers.map(({ port }) => proxyBefore(port)));
  const shards = Object.fromEntries(
    proxies.map(({ port }, i) => [String(i), [String(port), '127.0.0.1', WEIGHTS[i]]]),
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
