import { abortReshard, reshard, type ShardConfig, type ShardMap, TransitionMap } from '@idsmith/shard';
import { InvalidOptionError, StoreError } from 'idsmith';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeWith } from '#services';
import {
  faults,
  populate,
  type SampleKey,
  sampleKeys,
} from '../../../verify/src/runs/reshard/sample-keys.ts';
import type { AfterStep } from '../../src/reshard/options.ts';
import { positionOf, ringOf } from '../start-shards.ts';
import { SixServers } from './six-servers.ts';

await describeWith(['redis'], 'A resharding that is given up', () => {
  let six: SixServers;
  let all: SampleKey[];

  beforeAll(async () => {
    six = await SixServers.start();
  });
  beforeEach(async () => {
    await six.empty();
    const [from] = six.fourAndSix();
    await from.genKey();
    all = sampleKeys(from, 600, Date.now() + 3_600_000);
    await populate(from, all);
  });
  afterEach(async () => {
    for (const client of six.clients) await client.config('SET', 'maxmemory', '0').catch(() => {});
    await six.closeMaps();
  });
  afterAll(() => six?.stop());

  const configs = (): [ShardConfig, ShardConfig] => {
    const { config, servers } = six.shards;
    return [
      { ...config, ...ringOf(servers.slice(0, 4), [1, 2, 1, 3]) },
      { ...config, ...ringOf(servers, [3, 1, 2, 2, 4, 1]) },
    ];
  };
  function transition(): TransitionMap {
    const map = new TransitionMap(...configs());
    six.maps.push(map as ShardMap<unknown>);
    return map;
  }

  /** Runs the resharding, and ends it after some keys at one of the steps, as kill -9 would. */
  async function moveUntil(point: Parameters<AfterStep>[0], batches = 5): Promise<void> {
    let left = batches;
    const afterStep: AfterStep = (step) => {
      if (step === point && --left <= 0) throw new Error('killed');
    };
    const error = await reshard(...six.fourAndSix(), { batch: 20, afterStep }).catch((error) => error);
    expect(error.message).toBe('killed');
  }

  /** Checks that every key is at its old owner, and that old and only old nodes mint. */
  async function expectAllBack(): Promise<void> {
    const [from, to] = six.fourAndSix();
    expect(await faults(from, all)).toEqual([]);
    const places = await six.places(to);
    for (const { key } of all) expect(places.get(key), key).toEqual([from.whereIs(key)]);
    for (const client of six.clients)
      expect(await client.exists('idsmith:reshard:in', 'idsmith:reshard:out')).toBe(0);
    await from.genKeys('user', 10);
    await expect(to.genKey()).rejects.toThrow(InvalidOptionError);
  }

  describe.each(['claimed', 'taken', 'put', 'dropped', 'settled'] as const)(
    'after it was killed at %s',
    (point) => {
      it('has returned every key and the sequences, and may begin again', async () => {
        await moveUntil(point);
        await abortReshard(...six.fourAndSix());
        await expectAllBack();
        await reshard(...six.fourAndSix());
        const [, to] = six.fourAndSix();
        expect(await faults(to, all)).toEqual([]);
        await expect(abortReshard(...six.fourAndSix())).rejects.toThrow('is finished: to go back, reshard');
      });
    },
  );

  it('before it has begun only hands minting back', async () => {
    const [from, to] = six.fourAndSix();
    const controller = new AbortController();
    const stopped = reshard(from, to, { signal: controller.signal });
    // The first answer of a node comes after this.
    controller.abort(new Error('stopped'));
    await expect(stopped).rejects.toThrow('stopped');
    expect(await abortReshard(...six.fourAndSix())).toMatchObject({ moved: 0 });
    await expectAllBack();
    // There is nothing to give up any more, and asking again does no harm.
    expect(await abortReshard(...six.fourAndSix())).toMatchObject({ moved: 0 });
    await expectAllBack();
  });

  it('returns its keys when it is stopped again and again', async () => {
    await moveUntil('settled', 12);
    let runs = 0;
    for (const point of ['claimed', 'taken', 'put', 'dropped', 'settled'] as const) {
      const afterStep: AfterStep = (step) => {
        if (step === point) throw new Error('killed');
      };
      const error = await abortReshard(...six.fourAndSix(), { batch: 5, afterStep }).catch((error) => error);
      if (error.message === 'killed') runs++;
      // Meanwhile it cannot go on, and says so.
      await expect(reshard(...six.fourAndSix())).rejects.toThrow('was given up, and its keys go back');
    }
    expect(runs).toBe(5);
    await abortReshard(...six.fourAndSix());
    await expectAllBack();
  });

  it('lets applications read and write all the time: there, back, and there again', async () => {
    const map = transition();
    const [from, to] = six.fourAndSix();
    const counters = Array.from({ length: 60 }, (_, i) => from.fixedKey(9000 + i, i, 4));
    const totals = counters.map(() => 0);
    const steady = all.filter(({ number }) => number % 6 === 0 && number % 70 !== 69);
    const [missed, minted]: [string[], string[]] = [[], []];
    let isOver = false;
    let reads = 0;
    const loop = async (task: () => Promise<void>) => {
      while (!isOver) await task();
    };
    const read = async () => {
      const { key, number } = steady[Math.floor(Math.random() * steady.length)]!;
      const value = await map.getClient(key).get(key);
      if (value !== `value ${number}`) missed.push(`${key} is ${value}`);
      reads++;
    };
    const write = async () => {
      const i = Math.floor(Math.random() * counters.length);
      const before = totals[i]!;
      const value = await map.getClient(counters[i]!).incr(counters[i]!);
      if (value <= before) missed.push(`${counters[i]} fell back to ${value}`);
      totals[i]!++;
    };
    const mint = async () => {
      minted.push(await map.genKey('user'));
      await new Promise((resolve) => setTimeout(resolve, 2));
    };
    const working = Promise.all([loop(read), loop(read), loop(write), loop(write), loop(mint)]);
    const steps = (async () => {
      for (const point of ['put', 'dropped'] as const) {
        await moveUntil(point, 12);
        await abortReshard(...six.fourAndSix());
      }
      await moveUntil('settled', 8);
      await reshard(...six.fourAndSix());
    })().finally(() => {
      isOver = true;
    });
    await Promise.all([working, steps]);
    expect(missed).toEqual([]);
    expect(reads).toBeGreaterThan(100);
    for (const [i, key] of counters.entries()) {
      const value = Number(await map.getClient(key).get(key));
      expect(value, key).toBe(totals[i]);
    }
    expect(new Set(minted.map(positionOf)).size).toBe(minted.length);
    expect(await faults(to, all)).toEqual([]);
  });

  it('keeps what applications wrote and deleted at new owners', async () => {
    const map = transition();
    await moveUntil('settled', 10);
    const [from, to] = six.fourAndSix();
    const moved = all.filter(({ key, number }) => number % 6 === 0 && from.whereIs(key) !== to.whereIs(key));
    for (const [i, { key }] of moved.entries())
      await (i % 2 === 0 ? map.getClient(key).set(key, 'new') : map.getClient(key).del(key));
    await abortReshard(...six.fourAndSix());
    for (const [i, { key }] of moved.entries())
      expect(await from.getClient(key).get(key), key).toBe(i % 2 === 0 ? 'new' : null);
  });

  it('because a new node is full gets its keys back', async () => {
    await six.clients[4]!.config('SET', 'maxmemory', '1mb');
    const full = await reshard(...six.fourAndSix(), { batch: 20 }).catch((error) => error);
    expect(full.message).toContain('OOM');
    await abortReshard(...six.fourAndSix());
    await expectAllBack();
  });

  it('because a new node is dead waits for that node, and leaves all as it is', async () => {
    await moveUntil('settled', 8);
    const server = six.shards.servers[5]!;
    await server.shutdown();
    const error = await abortReshard(...six.fourAndSix()).catch((error) => error);
    await server.start();
    expect(error).toBeInstanceOf(StoreError);
    expect(error.message).toContain(`node 127.0.0.1:${server.port}: `);
  });
});
