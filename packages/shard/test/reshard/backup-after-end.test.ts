import { reshard, type ShardConfig, ShardMap, TransitionMap } from '@idsmith/shard';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeWith } from '#services';
import { ringOf, type Shards, startShards } from '../start-shards.ts';

/** The first server is started after the end of a resharding, with a backup of the time when keys were moved. */
await describeWith(['redis'], 'A node with a backup from the middle of a resharding that has ended', () => {
  let shards: Shards;
  const maps: { close(): Promise<void> }[] = [];

  beforeEach(async () => {
    shards = await startShards([1, 1, 1]);
  });
  afterEach(async () => {
    await Promise.all(maps.splice(0).map((map) => map.close()));
    await shards?.stop();
  });

  const open = <M extends { close(): Promise<void> }>(map: M): M => {
    maps.push(map);
    return map;
  };
  const config = (nodes: readonly number[]): ShardConfig => ({
    ...shards.config,
    ...ringOf(nodes.map((i) => shards.servers[i]!)),
  });
  const mapsOf = (old: readonly number[], next: readonly number[]) =>
    [old, next].map((nodes) => open(new ShardMap(config(nodes)))) as [ShardMap, ShardMap];

  /** Moves some of the keys, and then stops. */
  async function moveSome(from: ShardMap, to: ShardMap): Promise<void> {
    const controller = new AbortController();
    const onProgress = () => controller.abort(new Error('enough'));
    const stopped = reshard(from, to, { batch: 5, signal: controller.signal, onProgress });
    await expect(stopped).rejects.toThrow('enough');
  }

  it.each([
    ['an old owner that it has not used', [0, 1], [1, 2], false],
    ['an old owner that it has used', [0, 1], [1, 2], true],
    ['a new owner that it has not used', [1, 2], [0, 1], false],
  ] as const)('does not keep a process waiting: %s', async (_, old, next, wasUsed) => {
    const [from, to] = mapsOf(old, next);
    const keys = Array.from({ length: 400 }, (_, i) => from.fixedKey(1000 + i, i, 2));
    for (const key of keys) await from.getClient(key).set(key, 'old');
    await moveSome(...mapsOf(old, next));

    // The process learns that keys are moved, and then rests until the end.
    const running = open(new TransitionMap(config(old), config(next)));
    const { address } = open(new ShardMap(config([0]))).nodes[0]!;
    const isOfFirst = (key: string) => [from, to].some((map) => map.addressOf(key) === address);
    const other = keys.find((key) => !isOfFirst(key) && from.addressOf(key) !== to.addressOf(key));
    const stays = keys.find((key) => !isOfFirst(key)) as string;
    const [first, later] = keys.filter(isOfFirst).filter((key) => from.addressOf(key) !== to.addressOf(key));
    for (const key of [other ?? stays, ...(wasUsed ? [first!] : [])])
      expect(await running.getClient(key).get(key)).toBe('old');

    await shards.servers[0]!.command('SAVE');
    await reshard(...mapsOf(old, next));
    await shards.servers[0]!.kill();
    await shards.servers[0]!.start();
    expect(await running.getClient(later!).set(later!, 'new')).toBe('OK');
    const [, after] = mapsOf(old, next);
    expect(await after.getClient(later!).get(later!)).toBe('new');
  });
});
