import { abortReshard, reshard, ShardMap, TransitionMap } from '@idsmith/shard';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith } from '#services';
import { BEGIN_RESHARD } from '../../src/redis/scripts.ts';
import { ReshardContext } from '../../src/reshard/context.ts';
import type { NodeConnection } from '../../src/reshard/node-connection.ts';
import { beginReshard } from '../../src/reshard/phase.ts';
import { ringOf, type Shards, startShards } from '../start-shards.ts';

/** One old node has begun, and the other one has not: the process that began was killed, or the node crashed. */
await describeWith(['redis'], 'A resharding that begins again after an abort, on some of the nodes', () => {
  let shards: Shards;
  let keys: string[];

  beforeAll(async () => {
    shards = await startShards([1, 1, 1]);
  });
  beforeEach(async () => {
    for (const server of shards.servers) await server.command('FLUSHALL');
    await withMaps(async (from, to) => {
      keys = Array.from({ length: 100 }, (_, i) => from.fixedKey(1000 + i, i, 2));
      for (const key of keys) await from.getClient(key).set(key, key);
      await beginReshard(new ReshardContext(from, to), undefined);
    });
    await withMaps((from, to) => abortReshard(from, to));
    await withMaps(beginOnAllButOne);
    // Applications move the keys that they use, from the node that has begun.
    const map = new TransitionMap(...configs());
    for (const key of keys) await map.getClient(key).append(key, ' changed');
    await map.close();
  });
  afterAll(() => shards?.stop());

  const configs = () =>
    [shards.servers.slice(0, 2), shards.servers.slice(2)].map((servers) => ({
      ...shards.config,
      ...ringOf(servers),
    })) as [typeof shards.config, typeof shards.config];

  async function withMaps<T>(use: (from: ShardMap, to: ShardMap) => Promise<T>): Promise<T> {
    const maps = configs().map((config) => new ShardMap(config)) as [ShardMap, ShardMap];
    return use(...maps).finally(() => Promise.all(maps.map((map) => map.close())));
  }

  async function beginOnAllButOne(from: ShardMap, to: ShardMap): Promise<void> {
    const context = new ReshardContext(from, to);
    const second = [...context.sources.values()][1] as NodeConnection;
    const run = second.run.bind(second);
    second.run = async (operation, script, ...rest) => {
      if (script === BEGIN_RESHARD) throw new Error('crashed');
      return run(operation, script, ...rest);
    };
    await expect(beginReshard(context, undefined)).rejects.toThrow('crashed');
  }

  const countOn = async (index: number) => Number(await shards.servers[index]?.command('DBSIZE'));

  it('is given up with all keys that have moved', async () => {
    expect(await countOn(2)).toBeGreaterThan(10);
    await withMaps(async (from, to) => {
      await abortReshard(from, to);
      for (const key of keys) expect(await from.getClient(key).get(key)).toBe(`${key} changed`);
    });
    const old = new ShardMap(configs()[0]);
    for (const key of keys) expect(await old.getClient(key).get(key)).toBe(`${key} changed`);
    await old.close();
  });

  it('goes on to its end', async () => {
    await withMaps((from, to) => reshard(from, to));
    const next = new ShardMap(configs()[1]);
    for (const key of keys) expect(await next.getClient(key).get(key)).toBe(`${key} changed`);
    await next.close();
  });
});
