import {
  abortReshard,
  planReshard,
  reshard,
  type ShardConfig,
  ShardMap,
  TransitionMap,
} from '@idsmith/shard';
import { InvalidOptionError, StoreError } from 'idsmith';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith } from '#services';
import { SixServers } from '../reshard/six-servers.ts';
import { ringOf } from '../start-shards.ts';

await describeWith(['redis'], 'A map in transition that does not fit the nodes', () => {
  let six: SixServers;

  beforeAll(async () => {
    six = await SixServers.start();
  });
  beforeEach(() => six.empty());
  afterEach(() => six.closeMaps());
  afterAll(() => six?.stop());

  const config = (nodes: readonly number[], weights: number[] = []): ShardConfig => ({
    ...six.shards.config,
    ...ringOf(
      nodes.map((i) => six.shards.servers[i]!),
      weights,
    ),
  });
  const describeConfig = (nodes: readonly number[]) =>
    nodes.map((i) => `127.0.0.1:${six.shards.servers[i]!.port}`).join(', ');
  function transition(from: ShardConfig, to: ShardConfig): TransitionMap {
    const map = new TransitionMap(from, to);
    six.maps.push(map as ShardMap<unknown>);
    return map;
  }
  function pairOf(from: ShardConfig, to: ShardConfig): [ShardMap, ShardMap] {
    const maps: [ShardMap, ShardMap] = [new ShardMap(from), new ShardMap(to)];
    six.maps.push(...(maps as never as ShardMap<unknown>[]));
    return maps;
  }
  async function finish(from: ShardConfig, to: ShardConfig): Promise<void> {
    await reshard(...pairOf(from, to));
  }
  /** Begins a resharding, and ends the process that moves keys as kill -9 does. */
  async function beginAndKill(from: ShardConfig, to: ShardConfig): Promise<void> {
    const afterStep = () => {
      throw new Error('killed');
    };
    await expect(reshard(...pairOf(from, to), { afterStep })).rejects.toThrow('killed');
  }

  /** The errors of commands on 50 keys, whether the map moves them or not. */
  async function errorsOf(map: TransitionMap): Promise<Error[]> {
    const errors: Error[] = [];
    for (let i = 0; i < 50; i++) {
      const key = map.fixedKey(1000 + i, i, 2);
      try {
        await map.getClient(key).get(key);
      } catch (error) {
        errors.push(error as Error);
      }
    }
    return errors;
  }

  const [A, B, C] = [
    [0, 1],
    [0, 1, 2],
    [0, 1, 2, 3],
  ];

  it.each<[string, () => [ShardConfig, ShardConfig], string]>([
    ['an older pair, after the next one is done', () => [config(A), config(B)], 'older'],
    ['the nodes in another order', () => [config(B), config([3, 2, 1, 0])], 'order'],
    ['other weights', () => [config(B, [1, 5, 1]), config(C)], 'weights'],
    ['another pair from the same map', () => [config(B), config([0, 1, 2, 4])], 'pair'],
  ])('fails and names both: %s', async (_, pair) => {
    await finish(config(A), config(B));
    await finish(config(B), config(C));
    const errors = await errorsOf(transition(...pair()));
    expect(errors).toHaveLength(50);
    for (const error of errors) {
      expect(error).toBeInstanceOf(StoreError);
      expect(error.message).toContain(
        `the last resharding there was ${describeConfig(B)} → ${describeConfig(C)}`,
      );
      expect(error.message).toContain('and this one is 127.0.0.1:');
    }
    // Neither may it be run.
    await expect(reshard(...pairOf(...pair()))).rejects.toThrow('the last resharding there was');
  });

  it('works for the next pair, for the pair that is done, and for the way back', async () => {
    await finish(config(A), config(B));
    expect(await errorsOf(transition(config(A), config(B)))).toEqual([]);
    expect(await errorsOf(transition(config(B), config(C)))).toEqual([]);
    expect(await errorsOf(transition(config(B), config(A)))).toEqual([]);
    await finish(config(B), config(A));
    expect(await errorsOf(transition(config(A), config(B)))).toEqual([]);
  });

  it('fails as soon as the nodes have gone elsewhere, also if it was right in the beginning', async () => {
    const map = transition(config(A), config(B));
    expect(await errorsOf(map)).toEqual([]);
    await finish(config(A), config([0, 1, 3]));
    const key = Array.from({ length: 50 }, (_, i) => map.fixedKey(1000 + i, i, 2)).find(
      (one) => map.ownerOf(one).index === 2,
    )!;
    const error = await map
      .getClient(key)
      .get(key)
      .catch((error: Error) => error);
    expect(error).toBeInstanceOf(StoreError);
    expect(error.message).toContain('the last resharding there was');
  });

  it('works again after another resharding was begun by mistake and given up, and after the end of its own', async () => {
    const [wrong, right] = [config([0, 1, 3]), config(B)];
    const map = transition(config(A), right);
    expect(await errorsOf(map)).toEqual([]);
    for (let i = 0; i < 50; i++) {
      const key = map.fixedKey(1000 + i, i, 2);
      await map.getClient(key).set(key, `value ${i}`);
    }
    await beginAndKill(config(A), wrong);
    // Commands on keys that stay learn of it within two seconds.
    await expect.poll(async () => (await errorsOf(map)).length).toBe(50);
    for (const error of await errorsOf(map))
      expect(error.message).toContain('another resharding is not finished');
    await abortReshard(...pairOf(config(A), wrong));
    expect(await errorsOf(map)).toEqual([]);
    expect(await map.genKeys('user', 3)).toHaveLength(3);
    await finish(config(A), right);
    expect(await errorsOf(map)).toEqual([]);
    for (let i = 0; i < 50; i++) {
      const key = map.fixedKey(1000 + i, i, 2);
      expect(await map.getClient(key).get(key)).toBe(`value ${i}`);
    }
    expect(await map.genKeys('user', 3)).toHaveLength(3);
  });

  it('is refused if the two maps place every key alike, and so is the resharding', async () => {
    const [same, again] = [config(B, [1, 2, 1]), { ...config(B, [1, 2, 1]) }];
    const words = 'from and to have the same nodes in the same order and with the same weights';
    expect(() => new TransitionMap(same, again)).toThrow(words);
    for (const run of [planReshard, reshard, abortReshard])
      await expect(run(...pairOf(same, again))).rejects.toThrow(InvalidOptionError);
    await expect(reshard(...pairOf(same, again))).rejects.toThrow(words);
    for (const client of six.clients) expect(await client.dbsize()).toBe(0);
  });
});
