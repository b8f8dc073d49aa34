import { type AnsweringNode, type NodeStatus, nodeStatus, reshard, ShardMap } from '@idsmith/shard';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '#services';
import { type Shards, startShards } from '../start-shards.ts';

await describeWith(['redis'], 'nodeStatus', () => {
  let shards: Shards;
  let [one, two]: ShardMap[] = [];

  beforeAll(async () => {
    shards = await startShards([1, 3]);
    const first = { ...shards.config, shards: { 0: shards.config.shards!['0']! } };
    [one, two] = [new ShardMap(first as never), new ShardMap(shards.config as never)];
  });
  afterAll(async () => {
    await Promise.all([one?.close(), two?.close()]);
    await shards?.stop();
  });

  const answers = (states: NodeStatus[]) =>
    states.map((state) => {
      if (state.error !== undefined) throw state.error;
      return state as AnsweringNode;
    });

  it('tells of every node its clock, its keys, and whether it mints for the map', async () => {
    const key = await one!.genKey('user');
    await one!.getClient(key).set(key, 'Ada');
    const asked = Date.now();
    const [state] = answers(await nodeStatus(one!));
    const took = Date.now() - asked;
    // The sequence is a key, too.
    expect(state).toMatchObject({ minting: 'open', keys: 2, resharding: undefined });
    expect(state!.node).toBe(one!.nodes[0]);
    expect(state!.latency).toBeGreaterThan(0);
    // Both are the clock of this machine.
    expect(Math.abs(state!.clockAhead)).toBeLessThanOrEqual(took / 2 + 2);
    expect(answers(await nodeStatus(two!)).map(({ minting }) => minting)).toEqual(['foreign', 'idle']);
  });

  it('tells of a resharding that was stopped in the middle, how far it came, and of its end', async () => {
    const keys = await one!.genKeys('user', 300);
    await Promise.all(keys.map((key) => one!.getClient(key).set(key, key)));
    const stop = new AbortController();
    const stopped = reshard(one!, two!, {
      batch: 50,
      signal: stop.signal,
      onProgress: ({ moved }) => moved > 0 && stop.abort(),
    });
    await expect(stopped).rejects.toThrow('aborted');
    for (const map of [one!, two!])
      for (const [i] of map.nodes.entries())
        await expect
          .poll(async () => answers(await nodeStatus(map))[i]!.resharding?.progress?.moved, {
            timeout: 20_000,
          })
          .toBeGreaterThan(0);
    const [state] = answers(await nodeStatus(one!));
    expect(state).toMatchObject({ minting: 'foreign', resharding: { phase: 'moving' } });
    const { about, progress } = state!.resharding!;
    expect(about).toContain(two!.nodes[1]!.address);
    expect(progress!.total).toBeGreaterThanOrEqual(300);
    expect(progress!.age).toBeGreaterThanOrEqual(0);

    await reshard(one!, two!);
    expect(
      answers(await nodeStatus(two!)).map(({ minting, resharding }) => [minting, resharding!.phase]),
    ).toEqual([
      ['open', 'done'],
      ['open', 'done'],
    ]);
  });

  it('tells of a node that does not answer, beside the others', async () => {
    await shards.servers[0]!.kill();
    const impatient = new ShardMap({
      ...shards.config,
      options: { ...shards.config.options, timeout: 300 },
    } as never);
    const [dead, alive] = await nodeStatus(impatient);
    expect(dead!.error).toMatchObject({ code: 'STORE' });
    expect(dead!.error!.message).toContain(impatient.nodes[0]!.address);
    expect(alive!.node.name).toBe('1');
    await impatient.close();
  });
});
