import * as ioredis from 'ioredis';
import * as redis from 'redis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  describeWith,
  type RedisCluster,
  type RedisSentinels,
  type RedisServer,
  startRedis,
  startRedisCluster,
  startRedisSentinels,
} from '#services';
import { openStore } from '../../../src/stores/open.ts';
import type { RedisDriver } from '../../../src/stores/redis/drivers.ts';
import { openRedisWith } from '../../../src/stores/redis/open.ts';

const DRIVERS: Record<string, RedisDriver> = {
  redis: { name: 'redis', redis },
  ioredis: { name: 'ioredis', ioredis },
};

await describeWith(['redis'], 'A URL that leads to another kind of server', () => {
  let single: RedisServer;
  let cluster: RedisCluster;
  let sentinels: RedisSentinels;
  beforeAll(async () => {
    [single, cluster, sentinels] = await Promise.all([
      startRedis(),
      startRedisCluster(),
      startRedisSentinels(),
    ]);
  });
  afterAll(async () => {
    await Promise.all([single?.stop(), cluster?.stop(), sentinels?.stop()]);
  });

  describe.each(Object.entries(DRIVERS))('with %s', (_, driver) => {
    /** The error of the first call. */
    async function refusal(url: string): Promise<{ code: string; reason?: string; message: string }> {
      const store = openRedisWith(driver, url);
      // In more than one slot, so that some of them are not on the first node of the Cluster.
      const calls = ['a', 'b', 'c', 'd'].map((namespace) => store.listLeases(namespace));
      const outcomes = await Promise.allSettled(calls);
      await store.close();
      const refused = outcomes.find((outcome) => outcome.status === 'rejected');
      return refused?.reason;
    }

    it('of a Cluster to a single server, or to Sentinels, says which URL it should be', async () => {
      for (const { port } of [single, sentinels.sentinels[0]!]) {
        const { code, message } = await refusal(`redis+cluster://127.0.0.1:${port}`);
        expect(code).toBe('INVALID_OPTION');
        expect(message).toMatch(
          `127.0.0.1:${port} is no node of a Redis Cluster (cluster-enabled): for a single server, the URL begins with redis://`,
        );
      }
    });

    it('of Sentinels to a server says which URL it should be', async () => {
      for (const { port } of [single, cluster.nodes[0]!]) {
        const { code, message } = await refusal(`redis+sentinel://127.0.0.1:${port}/mymaster`);
        expect(code).toBe('INVALID_OPTION');
        expect(message).toMatch(`127.0.0.1:${port} is no Sentinel`);
        expect(message).toMatch(/single server.* redis:\/\/.*redis\+cluster:\/\//);
      }
    });

    it('of a single server to a node of a Cluster, or to a Sentinel, says which URL it should be', async () => {
      expect((await refusal(cluster.nodes[0]!.url)).message).toMatch(
        /MOVED .*; the server is a node of a Redis Cluster: its URL begins with redis\+cluster:\/\//,
      );
      expect((await refusal(sentinels.sentinels[0]!.url)).message).toMatch(
        /If it is a Sentinel, the URL must be redis\+sentinel:\/\/host:port\/master/,
      );
    });

    it('of a Cluster that is not there tells why no node can be reached', async () => {
      expect(await refusal('redis+cluster://127.0.0.1:1,127.0.0.1:2')).toMatchObject({
        code: 'STORE',
        reason: 'UNREACHABLE',
        message: expect.stringContaining('ECONNREFUSED'),
      });
    });
  });

  it('is told from a Cluster without all of its masters, which is to come back', async () => {
    const [first, second] = cluster.nodes as [RedisServer, RedisServer];
    await second.kill();
    const isDown = async () => (await first.command('CLUSTER', 'INFO')).includes('cluster_state:fail');
    await expect.poll(isDown, { timeout: 60_000 }).toBe(true);
    for (const driver of Object.values(DRIVERS)) {
      const store = openRedisWith(driver, `redis+cluster://127.0.0.1:${first.port}`);
      const calls = await Promise.allSettled(['a', 'b', 'c', 'd'].map((name) => store.listLeases(name)));
      for (const call of calls)
        expect(call).toMatchObject({
          status: 'rejected',
          reason: { code: 'STORE', reason: 'UNAVAILABLE', message: expect.stringContaining('CLUSTERDOWN') },
        });
      await store.close();
    }
    await second.start();
  });
});

await describeWith(['redis'], 'A Redis with settings of its own', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server?.stop());

  /** The warnings of a process that uses leases and sequences. */
  async function warningsWith(policy: string, maxmemory: string): Promise<string[]> {
    await server.command('CONFIG', 'SET', 'maxmemory-policy', policy);
    await server.command('CONFIG', 'SET', 'maxmemory', maxmemory);
    const found: string[] = [];
    const listen = ({ code, message }: Error & { code?: string }) => void found.push(`${code} ${message}`);
    process.on('warning', listen);
    const store = await openStore(server.url);
    await store.listLeases('nodes');
    await store.listSequences();
    await store.close();
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', listen);
    return found;
  }

  it('names the setting if it has too few replicas', async () => {
    await server.command('CONFIG', 'SET', 'maxmemory', 0);
    await server.command('CONFIG', 'SET', 'min-replicas-to-write', 1);
    const store = await openStore(`${server.url}?durable=true`);
    await expect(store.defineSequence({ name: 'orders' })).rejects.toThrow(
      expect.objectContaining({
        message: expect.stringMatching(/NOREPLICAS .*; min-replicas-to-write/),
        reason: 'UNAVAILABLE',
      }),
    );
    await server.command('CONFIG', 'SET', 'min-replicas-to-write', 0);
    await store.close();
  });

  it('is told of once if it removes keys of the store', async () => {
    for (const policy of ['allkeys-lru', 'allkeys-random'])
      expect(await warningsWith(policy, '100mb')).toEqual([
        expect.stringMatching(
          `^STORE_EVICTS_KEYS .*maxmemory-policy = ${policy} .*Set maxmemory-policy = noeviction`,
        ),
      ]);
  });

  it.each([
    ['noeviction', '100mb'],
    ['volatile-lru', '100mb'],
    ['allkeys-lru', '0'],
  ])('gives no warning if it never does: %s, %s', async (policy, maxmemory) => {
    expect(await warningsWith(policy, maxmemory)).toEqual([]);
  });
});
