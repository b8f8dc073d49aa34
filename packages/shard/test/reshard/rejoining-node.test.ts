import { reshard, ShardMap, TransitionMap } from '@idsmith/shard';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, type RedisServer, startRedis } from '#services';
import { BEGIN_RESHARD, CANCEL_RESHARD } from '../../src/redis/scripts.ts';
import { ReshardContext } from '../../src/reshard/context.ts';
import { beginReshard } from '../../src/reshard/phase.ts';
import { README_OPTIONS, ringOf } from '../start-shards.ts';

/** The old owner came back with data from before the resharding, and has given keys away since. */
await describeWith(['redis'], 'A run that accepts an older node, and ends before this node has begun', () => {
  let old: RedisServer;
  let next: RedisServer;

  beforeAll(async () => {
    [old, next] = await Promise.all([startRedis(), startRedis()]);
  });
  afterAll(() => Promise.all([old?.stop(), next?.stop()]));

  const configs = () =>
    [old, next].map((server) => ({
      ...ringOf([server]),
      options: { ...README_OPTIONS, maxSkew: 50 },
    }));

  async function withMaps<T>(use: (from: ShardMap, to: ShardMap) => Promise<T>): Promise<T> {
    const maps = configs().map((config) => new ShardMap(config)) as [ShardMap, ShardMap];
    return use(...maps).finally(() => Promise.all(maps.map((map) => map.close())));
  }

  /** @param isKilled true if nobody is left to take the announcement back */
  async function acceptButNotBegin(isKilled: boolean): Promise<void> {
    await withMaps(async (from, to) => {
      const context = new ReshardContext(from, to);
      for (const node of context.nodes) {
        const run = node.run.bind(node);
        node.run = async (operation, script, ...rest) => {
          if (script === BEGIN_RESHARD || (isKilled && script === CANCEL_RESHARD)) throw new Error('ended');
          return run(operation, script, ...rest);
        };
      }
      const acceptOlder = [`127.0.0.1:${old.port}`];
      await expect(beginReshard(context, undefined, { acceptOlder })).rejects.toThrow('ended');
    });
  }

  it.each([
    ['fails', false],
    ['is killed', true],
  ])('lets nobody use what was given away when it %s', async (_, isKilled) => {
    for (const server of [old, next]) await server.command('FLUSHALL');
    const key = await withMaps(async (from) => {
      const key = from.fixedKey(1000, 1, 2);
      await from.getClient(key).set(key, 'older');
      return key;
    });
    await old.command('SAVE');
    await withMaps((from, to) => beginReshard(new ReshardContext(from, to), undefined));
    const before = new TransitionMap(...(configs() as [never, never]));
    await before.getClient(key).set(key, 'newer');
    await before.close();
    await old.kill();
    await old.start();
    expect(await old.command('GET', key)).toBe('older');

    await acceptButNotBegin(isKilled);
    const after = new TransitionMap(...(configs() as [never, never]));
    try {
      // Silence of so many milliseconds makes an announcement void.
      if (isKilled) await new Promise((resolve) => setTimeout(resolve, 3200));
      expect(await after.getClient(key).get(key)).toBe('newer');
      await after.getClient(key).del(key);
      await withMaps((from, to) => reshard(from, to));
      expect(await after.getClient(key).get(key)).toBeNull();
    } finally {
      await after.close();
    }
  });
});
