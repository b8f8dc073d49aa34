import {
  abortReshard,
  planReshard,
  reshard,
  type ShardConfig,
  ShardMap,
  TransitionMap,
} from '@idsmith/shard';
import { StoreError } from 'idsmith';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeWith } from '#services';
import type { AfterStep } from '../../src/reshard/options.ts';
import { ringOf, type Shards, startShards } from '../start-shards.ts';

/** The first server is started with a backup of the time after a resharding. The way back has taken place since. */
await describeWith(['redis'], 'A node with the backup of two reshardings ago', () => {
  let shards: Shards;
  let keys: string[];

  beforeEach(async () => {
    shards = await startShards([1, 1, 1]);
  });
  afterEach(() => shards?.stop());

  const config = (nodes: readonly number[]): ShardConfig => ({
    ...shards.config,
    ...ringOf(nodes.map((i) => shards.servers[i]!)),
  });

  async function run<T>(
    use: (from: ShardMap, to: ShardMap) => Promise<T>,
    from: readonly number[],
    to: readonly number[],
  ): Promise<T> {
    const maps = [new ShardMap(config(from)), new ShardMap(config(to))] as const;
    return use(...maps).finally(() => Promise.all(maps.map((map) => map.close())));
  }

  /** Moves there, makes the backup, and moves back. */
  async function thereAndBack(old: readonly number[], next: readonly number[]): Promise<void> {
    const map = new ShardMap(config(old));
    keys = Array.from({ length: 200 }, (_, i) => map.fixedKey(1000 + i, i, 2));
    for (const key of keys) await map.getClient(key).set(key, 'old');
    await map.close();
    await run(reshard, old, next);
    await shards.servers[0]!.command('SAVE');
    await run(reshard, next, old);
    const back = new ShardMap(config(old));
    for (const key of keys) await back.getClient(key).set(key, 'new');
    await back.close();
  }

  async function restore(): Promise<void> {
    await shards.servers[0]!.kill();
    await shards.servers[0]!.start();
  }

  /** The values of all keys that a map in transition reads, or the errors. */
  async function read(old: readonly number[], next: readonly number[]): Promise<unknown[]> {
    const map = new TransitionMap(config(old), config(next));
    const values = await Promise.all(
      keys.map((key) =>
        map
          .getClient(key)
          .get(key)
          .catch((error: Error) => error),
      ),
    );
    await map.close();
    return values;
  }

  const OUTDATED =
    /has the state of a backup: it knows phase done .* in round 1, and node .* ended in round 2/;

  async function expectRefusals(old: readonly number[], next: readonly number[]): Promise<void> {
    for (const use of [planReshard, reshard, abortReshard])
      await expect(run<unknown>(use, old, next)).rejects.toThrow(OUTDATED);
  }

  it('is not taken for one that has given its keys away', async () => {
    await thereAndBack([0, 1], [1, 2]);
    await restore();
    const map = new ShardMap(config([0, 1]));
    for (const [i, value] of (await read([0, 1], [1, 2])).entries()) {
      if (map.ownerOf(keys[i]!).index !== 0) expect(value).toBe('new');
      else {
        expect(value).toBeInstanceOf(StoreError);
        expect((value as Error).message).toMatch(OUTDATED);
      }
    }
    await map.close();
    await expectRefusals([0, 1], [1, 2]);
  });

  it('is not taken for the new owner of keys', async () => {
    await thereAndBack([1, 2], [0, 1]);
    await restore();
    expect(new Set(await read([1, 2], [0, 1]))).toEqual(new Set(['new']));
    await expectRefusals([1, 2], [0, 1]);
  });

  it('is noticed while the keys move again', async () => {
    await thereAndBack([1, 2], [0, 1]);
    const afterStep: AfterStep = (step) => {
      if (step === 'settled') throw new Error('killed');
    };
    const killed = run((from, to) => reshard(from, to, { batch: 10, afterStep } as object), [1, 2], [0, 1]);
    await expect(killed).rejects.toThrow('killed');
    await restore();
    await expectRefusals([1, 2], [0, 1]);
    for (const value of await read([1, 2], [0, 1])) expect(String(value)).toMatch(/^new$|state of a backup/);
  });
});
