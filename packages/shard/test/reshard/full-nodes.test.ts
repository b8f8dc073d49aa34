import { planReshard, reshard, type ShardMap, TransitionMap } from '@idsmith/shard';
import { StoreError } from 'idsmith';
import type { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith } from '#services';
import { faults, populate, sampleKeys } from '../../../verify/src/runs/reshard/sample-keys.ts';
import { ringOf } from '../start-shards.ts';
import { SixServers } from './six-servers.ts';

await describeWith(['redis'], 'A node that is full', () => {
  let six: SixServers;
  let from: ShardMap;
  let to: ShardMap;

  beforeAll(async () => {
    six = await SixServers.start();
  });
  beforeEach(async () => {
    await six.empty();
    const { servers } = six.shards;
    [from, to] = [six.mapOn(servers.slice(0, 2)), six.mapOn(servers.slice(1, 3))];
  });
  afterEach(async () => {
    for (const client of six.clients) await client.config('SET', 'maxmemory', '0');
    await six.closeMaps();
  });
  afterAll(() => six?.stop());

  /** Leaves a node no memory, as if `maxmemory` were reached. */
  async function fill(client: Redis): Promise<void> {
    await client.config('SET', 'maxmemory', '1mb');
    await expect(client.set('one more', 'x')).rejects.toThrow('OOM');
  }

  it('gives its keys away, and its applications read and move them', async () => {
    const all = sampleKeys(from, 1000, Date.now() + 3_600_000);
    await populate(from, all);
    await from.genKey();
    await fill(six.clients[0]!);
    await fill(six.clients[1]!);
    const { keys } = await planReshard(from, to);
    expect(keys).toBeGreaterThan(500);
    // The second node is full, too, and stays. It gets some keys of the first one, so they have to wait.
    await six.clients[1]!.config('SET', 'maxmemory', '0');
    const shards = (from: number, to: number) => ({
      ...six.shards.config,
      ...ringOf(six.shards.servers.slice(from, to)),
    });
    const map = new TransitionMap(shards(0, 2), shards(1, 3));
    six.maps.push(map as ShardMap<unknown>);
    const first = all.filter(({ key, number }) => number % 6 === 0 && from.ownerOf(key).index === 0)[0]!;
    expect(await map.getClient(first.key).get(first.key)).toBe(`value ${first.number}`);
    const running = reshard(from, to);
    await running;
    expect(await faults(to, all)).toEqual([]);
    expect(await map.getClient(first.key).get(first.key)).toBe(`value ${first.number}`);
    expect(await six.clients[0]!.dbsize()).toBe(2);
  });

  it('as a new owner takes no more than it has room for: the move stops, says so, and goes on later', async () => {
    const all = sampleKeys(from, 600, Date.now() + 3_600_000);
    await populate(from, all);
    await fill(six.clients[2]!);
    const error = await reshard(from, to, { batch: 50 }).catch((error) => error);
    expect(error).toBeInstanceOf(StoreError);
    expect(error.message).toContain(`node 127.0.0.1:${six.shards.servers[2]!.port}: `);
    expect(error.message).toContain('OOM');
    await six.clients[2]!.config('SET', 'maxmemory', '0');
    await reshard(from, to);
    expect(await faults(to, all)).toEqual([]);
  });
});
