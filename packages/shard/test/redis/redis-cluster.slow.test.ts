import { type ShardConfig, ShardMap } from '@idsmith/shard';
import { Cluster } from 'ioredis';
import { createCluster } from 'redis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, type RedisCluster, startRedisCluster } from '#services';
import { repeated } from '../../../idsmith/test/support/unique.ts';

await describeWith(['redis'], 'A Redis Cluster in place of the ring', () => {
  let cluster: RedisCluster;

  beforeAll(async () => {
    cluster = await startRedisCluster({ masters: 3 });
  });

  afterAll(() => cluster?.stop());

  const minted: string[] = [];
  const clients: Record<string, () => Promise<{ client: unknown; end: () => void }>> = {
    async ioredis() {
      const client = new Cluster(cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port })));
      return { client, end: () => client.disconnect() };
    },
    async redis() {
      const client = createCluster({ rootNodes: cluster.nodes.map(({ url }) => ({ url })) });
      await client.connect();
      return { client, end: () => client.destroy() };
    },
  };

  it.each(Object.keys(clients))('mints with a client of %s, and its slots route', async (name) => {
    const { client, end } = await clients[name]!();
    const config = { cluster: client, options: { maxSkew: 20, keyTypes: { user: 2 } } } as ShardConfig;
    const map = new ShardMap(config);
    const keys = [...(await map.genKeys('user', 10_000)), await map.genKey('user')];
    minted.push(...keys);
    expect(repeated(minted)).toEqual([]);
    // So many that each of the three masters has some, but for one time in 10^16.
    for (const key of keys.slice(0, 100)) {
      expect(map.whereIs(key)).toBe('cluster');
      expect(map.virtualShardOf(key)).toBe(0);
      expect(map.getClient(key)).toBe(client);
      await map.getClient(key).set(key, key);
      expect(await map.getClient(key).get(key)).toBe(key);
    }
    const sizes = await Promise.all(cluster.masters.map((master) => master.command('DBSIZE')));
    expect(sizes.map(Number).every((size) => size > 0)).toBe(true);
    await map.close();
    end();
  });
});
