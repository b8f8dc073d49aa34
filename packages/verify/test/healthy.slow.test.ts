import { createClient } from 'redis';
import { describe, expect, it } from 'vitest';
import {
  describeWith,
  type RedisServer,
  STORE_SERVERS,
  type StoreServer,
  startRedisCluster,
  startRedisSentinels,
} from '#services';
import { depth } from '../../../test/depth.ts';
import { TestServer } from '../../server/test/support/server.ts';
import { verify } from './run-verify.ts';
import { passes, SHORT } from './support/healthy.ts';

// A short run on every healthy store passes, leaves nothing behind, and touches nothing of others.

/** A busy machine takes its time. */
const LONG = { timeout: 400_000 };

// Each run waits for leases, faults and ends of processes most of its time.
const BESIDE_OTHERS = { concurrent: true };
const TITLE = 'passes, leaves nothing behind, and touches nothing of others';

/** A server of each kind of transport; `npm run test:long` has all stores, a Cluster and Sentinels. */
const CI_STORES = ['sqlite', 'postgres', 'redis'];

for (const [name, needs, start] of STORE_SERVERS.filter(([name]) => depth > 0 || CI_STORES.includes(name)))
  await describeWith(
    needs,
    `idsmith verify on ${name}`,
    () => {
      it(TITLE, LONG, async ({ onTestFinished }) => {
        const server: StoreServer = await start();
        onTestFinished(async () => void (await server.stop()));
        await passes(server.url);
        if (name === 'redis') expect(await leftKeys(server.url)).toEqual([]);
      });
    },
    BESIDE_OTHERS,
  );

/** Redis servers that stand for one another, and the URL of a store on them. Nobody has said that the store is new. */
const GROUPS: Readonly<Record<string, () => Promise<RedisGroup>>> = {
  'a Redis Cluster': async () => {
    const cluster = await startRedisCluster({ masters: 3, replicas: 1 });
    const url = `redis+cluster://${cluster.nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;
    return { url, servers: cluster.nodes, stop: () => cluster.stop() };
  },
  'Redis with Sentinels': async () => {
    const group = await startRedisSentinels();
    return { url: group.url, servers: group.redis, stop: () => group.stop() };
  },
};

interface RedisGroup extends StoreServer {
  readonly servers: readonly RedisServer[];
}

for (const [name, start] of depth > 0 ? Object.entries(GROUPS) : [])
  await describeWith(
    ['redis'],
    `idsmith verify on ${name}`,
    () => {
      it(
        'passes without the wait of half a minute for a new namespace, and leaves nothing behind',
        LONG,
        async ({ onTestFinished }) => {
          const { url, servers, stop } = await start();
          onTestFinished(async () => void (await stop()));
          const { status, stdout, stderr } = await verify(['--store', url, ...SHORT]);
          expect(stdout).toMatch(/^cases {4}(\d+) of \1 passed$/m);
          expect(stdout).toContain('PASSED');
          // Its servers are behind proxies, although the group names their addresses itself.
          expect(stdout).toMatch(/^faults .*(connections|messages) /m);
          expect(stdout).not.toContain('no proxy');
          expect(stderr).not.toMatch(/waiting \d\d s/);
          expect(status).toBe(0);
          for (const server of servers) expect(await server.command('KEYS', '*verify*')).toBe('*0');
        },
      );
    },
    BESIDE_OTHERS,
  );

describe('idsmith verify on a server of idsmith', BESIDE_OTHERS, () => {
  it(TITLE, LONG, async ({ onTestFinished }) => {
    const server = await TestServer.start();
    onTestFinished(() => server.stop());
    await passes(server.url);
  });
});

/** The keys of runs in a Redis, of which no store knows. */
async function leftKeys(url: string): Promise<string[]> {
  const client = await createClient({ url }).connect();
  const keys = await client.keys('*verify*');
  client.destroy();
  return keys;
}
