import {
  abortReshard,
  planReshard,
  reshard,
  type ShardConfig,
  ShardMap,
  TransitionMap,
} from '@idsmith/shard';
import { InvalidOptionError } from 'idsmith';
import { afterEach, expect, it } from 'vitest';
import { describeWith, startRedisCluster } from '#services';
import { repeated } from '../../../idsmith/test/support/unique.ts';
import { positionOf, ringOf, startShards } from '../start-shards.ts';

await describeWith(['redis'], 'New owners that are all lost for good', () => {
  const ends: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  it.each(['a node', 'a Redis Cluster'])(
    '%s: the resharding is given up, and all keys that were not moved are there',
    async (kind) => {
      const isCluster = kind === 'a Redis Cluster';
      const ring = await startShards(isCluster ? [1, 1] : [1, 1, 1]);
      const cluster = isCluster ? await startRedisCluster() : undefined;
      ends.push(
        () => ring.stop(),
        async () => cluster?.stop(),
      );
      const lost = cluster?.masters ?? ring.servers.slice(2);
      const name = cluster === undefined ? `127.0.0.1:${lost[0]?.port}` : 'cluster';
      const { options = {} } = ring.config;
      const configs = [
        { ...ringOf(ring.servers.slice(0, 2)), options },
        isCluster
          ? { cluster: { nodes: lost.map(({ url }) => url) }, hashTags: true, options }
          : { ...ringOf(lost), options },
      ] as [ShardConfig, ShardConfig];
      const keep = <M extends { close(): Promise<void> }>(map: M): M => {
        ends.push(() => map.close());
        return map;
      };
      const maps = () => configs.map((config) => keep(new ShardMap(config))) as [ShardMap, ShardMap];
      const [from, to] = maps();
      const keys = Array.from({ length: 400 }, (_, i) => from.fixedKey(1000 + i, i, 2));
      for (const key of keys) await from.getClient(key).set(key, key);
      const minted = await from.genKeys('user', 50);
      const afterStep = (step: string) => {
        if (step === 'settled') throw new Error('killed');
      };
      await expect(reshard(from, to, { batch: 10, afterStep } as object)).rejects.toThrow('killed');
      minted.push(...(await maps()[1].genKeys('user', 50)));
      const left: string[] = [];
      for (const { port } of ring.servers.slice(0, 2)) {
        const node = from.nodes.find((one) => one.port === port);
        left.push(...((await from.clientOf(node as never).keys('*')) as string[]));
      }
      const kept = keys.filter((key) => left.includes(key));
      expect(kept.length).toBeGreaterThan(10);
      expect(kept.length).toBeLessThan(400);

      await Promise.all(lost.map((server) => server.kill()));
      for (const run of [planReshard, reshard]) {
        const error = await run(...maps(), { gone: [name] }).catch((error) => error);
        expect(error).toBeInstanceOf(InvalidOptionError);
        expect(error.message).toContain(`--abort --gone ${name}`);
      }
      await abortReshard(...maps(), { gone: [name] });
      const [after] = maps();
      const running = keep(new TransitionMap(...configs));
      for (const key of kept) expect(await after.getClient(key).get(key)).toBe(key);
      expect(await running.getClient(kept[0] as string).get(kept[0])).toBe(kept[0]);
      minted.push(...(await after.genKeys('user', 50)), await running.genKey('user'));
      expect(repeated(minted.map(positionOf))).toEqual([]);
    },
    120_000,
  );
});
