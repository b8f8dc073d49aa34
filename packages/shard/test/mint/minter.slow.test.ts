import { ShardMap } from '@idsmith/shard';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { describeWith } from '#services';
import { depth } from '../../../../test/depth.ts';
import { repeated } from '../../../idsmith/test/support/unique.ts';
import { inProcess } from '../../../idsmith/test/support/workers.ts';
import { FRESH_VARIANTS, widthOf } from '../../src/keys/variants.ts';
import { mintOnAll, positionOf, type Shards, startShards } from '../start-shards.ts';

const script = new URL('./minting-process.mjs', import.meta.url);

await describeWith(['redis'], 'Minting on six nodes of different weights', () => {
  let shards: Shards;
  let map: ShardMap;

  beforeAll(async () => {
    shards = await startShards([1, 2, 1, 4, 3, 2]);
    map = new ShardMap(shards.config);
    // A new ring begins as far ahead of its clocks as it may be; in a second they have caught up.
    const settled = async () => {
      for (let i = 0; i < 6; i++) {
        const ahead = map.getTime(await map.genKey()).getTime() - Date.now();
        if (ahead > 50) throw new Error(`${ahead} ms ahead`);
      }
    };
    await vi.waitFor(settled, { timeout: 60_000, interval: 50 });
  });

  afterAll(async () => {
    await map?.close();
    await shards?.stop();
  });

  /** The number of times that the servers have reserved keys. */
  async function trips(): Promise<number> {
    const stats = await Promise.all(shards.servers.map((server) => server.command('INFO', 'commandstats')));
    const counts = stats.flatMap((text) => [...text.matchAll(/cmdstat_hset:calls=(\d+)/g)]);
    return counts.reduce((sum, [, calls]) => sum + Number(calls), 0);
  }

  it('gives keys of the type that was asked for, made now', async () => {
    const before = Date.now();
    const keys = [await map.genKey('user'), await map.genKey(0), await map.genKey(), await map.genKey(3000)];
    expect(keys.map((key) => key.length)).toEqual([11, 11, 11, 11]);
    expect(keys.map((key) => map.getType(key))).toEqual(['user', 'index', '$DEF', undefined]);
    for (const key of keys) {
      expect(map.getTime(key).getTime()).toBeGreaterThanOrEqual(before - 100);
      expect(map.getTime(key).getTime()).toBeLessThan(Date.now() + 100);
    }
  });

  it('lets every node mint, each its own milliseconds', async () => {
    const keys = await mintOnAll(map);
    expect(new Set(keys.map((key) => map.virtualShardOf(key)))).toEqual(new Set([0, 1, 2, 3, 4, 5]));
  });

  it('takes one round trip to each node for the first key of a process', async () => {
    const scripts = async () => {
      const stats = await Promise.all(shards.servers.map((server) => server.command('INFO', 'commandstats')));
      const counts = stats.flatMap((text) => [...text.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)]);
      return counts.reduce((sum, [, calls]) => sum + Number(calls), 0);
    };
    const before = await scripts();
    const other = new ShardMap(shards.config);
    await other.genKey();
    await other.close();
    expect(await scripts()).toBe(before + 6);
  });

  it.each([0, 1, 3844, 100_000])('gives a batch of %d, ascending and in one round trip', async (count) => {
    const before = await trips();
    const keys = await map.genKeys('user', count);
    expect(await trips()).toBeLessThanOrEqual(before + 1);
    expect(keys).toHaveLength(count);
    expect(keys.every((key, i) => i === 0 || key > keys[i - 1]!)).toBe(true);
    expect(new Set(keys.map((key) => map.virtualShardOf(key))).size).toBeLessThanOrEqual(1);
    expect(new Set(keys.map((key) => map.getType(key)))).toEqual(new Set(count === 0 ? [] : ['user']));
  });

  it('goes on with the next millisecond of the same shard when one is full, and fills what it began', async () => {
    const keys = await map.genKeys('user', 10_000);
    const perMs = new Map<number, number>();
    for (const key of keys) {
      const ms = map.getTime(key).getTime();
      perMs.set(ms, (perMs.get(ms) ?? 0) + 1);
    }
    const times = [...perMs.keys()];
    expect(times.slice(1).every((ms, i) => ms === times[i]! + 6)).toBe(true);
    expect([...perMs.values()].slice(1, -1).every((count) => count === widthOf(FRESH_VARIANTS))).toBe(true);
    expect(repeated(keys)).toEqual([]);
  });

  it('gathers a thousand calls in flight into at most 20 round trips', async () => {
    const before = await trips();
    const keys = await Promise.all(Array.from({ length: 1000 }, (_, i) => map.genKey(i % 2)));
    expect((await trips()) - before).toBeLessThanOrEqual(20);
    expect(repeated(keys.map(positionOf))).toEqual([]);
    expect(keys.every((key, i) => map.getType(key) === ['index', 'sorted'][i % 2])).toBe(true);
  });

  it('gathers a thousand calls that come one by one, too, while round trips are under way', async () => {
    const before = await trips();
    const keys = await Promise.all(
      Array.from({ length: 1000 }, async (_, i) => {
        for (let turn = 0; turn < i % 10; turn++) await null;
        return map.genKey();
      }),
    );
    expect((await trips()) - before).toBeLessThanOrEqual(20);
    expect(repeated(keys)).toEqual([]);
  });

  it('takes two hundred thousand calls at once', async () => {
    const keys = await Promise.all(Array.from({ length: 200_000 }, () => map.genKey()));
    expect(repeated(keys)).toEqual([]);
  });

  it('gives more keys than the nodes may be ahead of their clocks, by waiting for them', async () => {
    const keys = await map.genKeys(undefined, 1_000_000);
    expect(keys.every((key, i) => i === 0 || key > keys[i - 1]!)).toBe(true);
    expect(map.getTime(keys.at(-1)!).getTime()).toBeLessThan(Date.now() + 1100);
  });

  it('goes no further ahead of the clocks by single calls after a burst, so that the clocks catch up', async () => {
    const burst = await map.genKeys(undefined, 1_000_000);
    // A busy machine needs so long for the burst that the clocks may have caught up by now.
    const reached = Math.max(map.getTime(burst.at(-1)!).getTime(), Date.now());
    const started = performance.now();
    let last = '';
    for (let i = 0; i < 300; i++) last = await map.genKey();
    const ahead = map.getTime(last).getTime() - reached;
    expect(ahead).toBeLessThanOrEqual(12 + performance.now() - started);
  });

  it('asks all nodes at once for more keys than one of them has', async () => {
    const asked: number[] = [];
    const spies = map.sequences.map((sequence, i) => {
      const { mint } = sequence;
      return vi.spyOn(sequence, 'mint').mockImplementation((...args) => {
        asked.push(i);
        return mint.apply(sequence, args).then((reply) => {
          asked.push(-1);
          return reply;
        });
      });
    });
    const keys = await map.genKeys('user', 2_000_000);
    for (const spy of spies) spy.mockRestore();
    // All six have been asked before the first of them has answered.
    expect(new Set(asked.slice(0, asked.indexOf(-1)))).toEqual(new Set([0, 1, 2, 3, 4, 5]));
    expect(keys.every((key, i) => i === 0 || key > keys[i - 1]!)).toBe(true);
    expect(new Set(keys.map((key) => map.virtualShardOf(key))).size).toBe(6);
  });

  it('gives keys that ascend from call to call, of every size', async () => {
    let last = await map.genKey();
    for (let i = 0; i < 600; i++) {
      const keys = i % 50 === 49 ? await map.genKeys('user', 9000) : [await map.genKey()];
      expect([i, keys[0]! > last]).toEqual([i, true]);
      last = keys.at(-1)!;
    }
  });

  const processes = depth > 0 ? 16 : 6;
  it(`of ${processes} processes with wrong clocks never repeats a key, while sequences are deleted and reset and a server forgets`, async () => {
    // Only a limit: on a busy machine, many processes need most of a minute to start.
    const until = Date.now() + 150_000;
    const workers = Array.from({ length: processes }, (_, i) => {
      const offset = Math.round(((i + 0.5) / processes - 0.5) * 20_000);
      return inProcess(script, [
        JSON.stringify({ config: shards.config, offset, until, most: processes * 625 }),
      ]);
    });
    const seqname = '$equence';
    const [deleted, reset, edited, emptied] = shards.servers;
    let isOver = false;
    const faults = (async () => {
      for (let round = 0; !isOver; round++) {
        await deleted!.command('DEL', seqname);
        await reset!.command('SET', seqname, round);
        await edited!.command('HSET', seqname, 'ms', 0).catch(() => {});
        if (round % 4 === 1) await emptied!.restart({ empty: true });
        // Some keys are minted between two faults, unless the others' faults come too quickly for that.
        await map.genKeys('user', 1000).catch((error) => expect(error.code).toBe('STORE'));
      }
    })();
    const keys = (await Promise.all(workers)).flatMap((lines) => lines.trimEnd().split('\n'));
    isOver = true;
    await faults;
    expect(keys.length).toBeGreaterThan(processes * processes * 312);
    expect(repeated(keys.map(positionOf))).toEqual([]);
    expect(new Set(keys.map((key) => map.virtualShardOf(key))).size).toBe(6);
  }, 200_000);
});
