import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { ShardMap } from '@idsmith/shard';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeWith } from '#services';
import { repeated } from '../../../idsmith/test/support/unique.ts';
import { handOver } from '../../src/mint/handover.ts';
import { ringOf, type Shards, startShards } from '../start-shards.ts';

await describeWith(['redis'], 'A call with a signal', () => {
  let shards: Shards;
  const maps: ShardMap[] = [];

  beforeAll(async () => {
    shards = await startShards([1, 1]);
  });
  afterEach(async () => {
    await Promise.all(maps.splice(0).map((map) => map.close()));
  });
  afterAll(() => shards?.stop());

  function start(): ShardMap {
    const map = new ShardMap(shards.config);
    maps.push(map);
    return map;
  }

  const reason = new Error('no longer needed');

  it('that is aborted already mints nothing', async () => {
    const map = start();
    const signal = AbortSignal.abort(reason);
    await expect(map.genKey('user', { signal })).rejects.toBe(reason);
    await expect(map.genKeys('user', 5, { signal })).rejects.toBe(reason);
    await expect(map.genKeys('user', 0, { signal })).rejects.toBe(reason);
  });

  it('ends at once when the signal is aborted, and the others of its round trip get their keys', async () => {
    const map = start();
    await map.genKey();
    const controller = new AbortController();
    const { signal } = controller;
    const keys = [1, 2, 3].map(() => map.genKeys('user', 2000));
    const ended = map.genKeys('user', 1_000_000, { signal }).catch((error) => error);
    keys.push(...[4, 5].map(() => map.genKeys('user', 2000)));
    // After the request has gone to a node.
    await new Promise((resolve) => {
      queueMicrotask(() => queueMicrotask(() => resolve(undefined)));
    });
    controller.abort(reason);
    expect(await ended).toBe(reason);
    const all = (await Promise.all(keys)).flat();
    expect(all).toHaveLength(10_000);
    expect(repeated(all)).toEqual([]);
  });

  it('ends a large call between two round trips', async () => {
    const map = start();
    const controller = new AbortController();
    const seen: unknown[] = [];
    const listener = (message: unknown) => {
      seen.push(message);
      controller.abort(reason);
    };
    subscribe('idsmith:key', listener);
    const ended = map.genKeys('user', 10_000_000, { signal: controller.signal });
    await expect(ended).rejects.toBe(reason);
    unsubscribe('idsmith:key', listener);
    expect(seen.length).toBeGreaterThan(0);
    expect(await map.genKey()).toHaveLength(11);
  });

  it('has a signal without listeners when it has ended', async () => {
    const map = start();
    const { signal } = new AbortController();
    let added = 0;
    const counting = Object.create(signal, {
      aborted: { value: false },
      addEventListener: { value: () => added++ },
      removeEventListener: { value: () => added-- },
    });
    await map.genKeys('user', 10, { signal: counting });
    await expect(map.genKeys('nosuch', 10, { signal: counting })).rejects.toThrow('nosuch');
    expect(added).toBe(0);
  });
});

await describeWith(['redis'], 'The channel idsmith:key', () => {
  it('tells of openings, ranges, failures and handovers', async () => {
    const shards = await startShards([1, 1]);
    const seen: { event: string }[] = [];
    const listener = (message: unknown) => seen.push(message as { event: string });
    subscribe('idsmith:key', listener);
    const [one, both] = [
      new ShardMap({ ...shards.config, ...ringOf(shards.servers.slice(0, 1)) }),
      new ShardMap(shards.config),
    ];
    await one.genKeys('user', 10);
    const [first] = one.nodes;
    expect(seen).toEqual([
      { event: 'sequences-opened', nodes: first!.address },
      { event: 'range-reserved', node: '0', address: first!.address, count: 10 },
    ]);
    await handOver(one.sequences, both.sequences);
    expect(seen.at(-1)).toMatchObject({ event: 'handed-over', from: first!.address, generation: 2 });
    await one.genKey().catch(() => {});
    expect(seen.at(-1)).toMatchObject({ event: 'node-set-conflict', error: expect.any(Error) });
    await both.genKey();
    await shards.servers[1]!.kill();
    await expect
      .poll(() => both.genKey().then(() => seen.map(({ event }) => event)))
      .toContain('node-failed');
    expect(seen.find(({ event }) => event === 'node-failed')).toMatchObject({
      node: '1',
      error: expect.any(Error),
    });
    unsubscribe('idsmith:key', listener);
    await Promise.all([one.close(), both.close()]);
    await shards.stop();
  });
});
