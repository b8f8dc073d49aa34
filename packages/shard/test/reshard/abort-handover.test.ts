import { abortReshard, reshard, type ShardConfig, ShardMap } from '@idsmith/shard';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith } from '#services';
import type { NodeSequence } from '../../src/mint/node-sequence.ts';
import { positionOf, ringOf, type Shards, startShards } from '../start-shards.ts';

type Change = readonly [old: readonly number[], next: readonly number[]];

/** The process that hands minting over is killed before its step with some number: a close or an adoption on one node. */
await describeWith(['redis'], 'A handover of minting that was killed', () => {
  let shards: Shards;

  beforeAll(async () => {
    shards = await startShards([1, 1, 1]);
  });
  beforeEach(async () => {
    for (const server of shards.servers) await server.command('FLUSHALL');
  });
  afterAll(() => shards?.stop());

  const configOf = (nodes: readonly number[]): ShardConfig => ({
    ...ringOf(nodes.map((i) => shards.servers[i]!)),
    options: { ...shards.config.options, maxSkew: 50 },
  });

  async function inProcess<T>(change: Change, use: (from: ShardMap, to: ShardMap) => Promise<T>): Promise<T> {
    const maps = change.map((nodes) => new ShardMap(configOf(nodes))) as [ShardMap, ShardMap];
    return use(...maps).finally(() => Promise.all(maps.map((map) => map.close())));
  }

  const mint = (nodes: readonly number[]) => inProcess([nodes, nodes], (map) => map.genKeys(2, 200));

  /** Runs a resharding until the step. @returns false if it came to its end before */
  function killedBefore(step: number, change: Change): Promise<boolean> {
    let left = step;
    const untilKilled = (sequence: NodeSequence) => {
      for (const name of ['close', 'adopt'] as const) {
        const act = sequence[name].bind(sequence) as (...args: unknown[]) => never;
        sequence[name] = (...args: unknown[]) => {
          if (left-- <= 0) throw new Error('killed');
          return act(...args);
        };
      }
    };
    return inProcess(change, async (from, to) => {
      for (const sequence of [...from.sequences, ...to.sequences]) untilKilled(sequence);
      const error = await reshard(from, to).catch((thrown) => thrown);
      if (error instanceof Error) expect(error.message).toContain('killed');
      return error instanceof Error;
    });
  }

  it.each<Change>([
    [[0], [1]],
    [[0, 1], [1]],
    [[0], [0, 1]],
    [[0, 1], [2]],
  ])('is taken back from %j to %j by an abort, at every step', async (...change) => {
    const keys = await mint(change[0]);
    let steps = 0;
    while (await killedBefore(steps, change)) {
      // Twice, because the second abort finds nothing left to do.
      for (let i = 0; i < 2; i++) await inProcess(change, (from, to) => abortReshard(from, to));
      keys.push(...(await mint(change[0])));
      steps++;
    }
    expect(steps).toBeGreaterThan(1);
    keys.push(...(await mint(change[1])));
    expect(new Set(keys.map(positionOf)).size).toBe(keys.length);
  });
});
