import { StoreError } from 'idsmith';
import { reshard, type ShardConfig, ShardMap, TransitionMap } from 'idsmith/shard';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith } from '#services';
import { entriesOf } from '../start-shards.ts';
import { SixServers } from './six-servers.ts';

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
    shards: entriesOf(
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
  async function finish(from: ShardConfig, to: ShardConfig): Promise<void> {
    const maps = [new ShardMap(from), new ShardMap(to)] as const;
    six.maps.push(...(maps as never as ShardMap<unknown>[]));
    await reshard(...maps);
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
    const maps = pair().map((one) => new ShardMap(one)) as [ShardMap, ShardMap];
    six.maps.push(...(maps as never as ShardMap<unknown>[]));
    await expect(reshard(...maps)).rejects.toThrow('the last resharding there was');
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
});
