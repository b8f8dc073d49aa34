import { planReshard, type ReshardProgress, reshard, type ShardMap } from '@idsmith/shard';
import type { Redis } from 'ioredis';
import { createClient } from 'redis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith } from '#services';
import { everywhere, faults, populate, sampleKeys } from '../../../verify/src/runs/reshard/sample-keys.ts';
import { NodeSetConflictError } from '../../src/mint/node-sequence.ts';
import type { Shards } from '../start-shards.ts';
import { SixServers } from './six-servers.ts';

await describeWith(['redis'], 'Resharding', () => {
  let six: SixServers;
  let shards: Shards;
  let clients: readonly Redis[];

  beforeAll(async () => {
    six = await SixServers.start();
    ({ shards, clients } = six);
  });
  beforeEach(() => six.empty());
  afterEach(() => six.closeMaps());
  afterAll(() => six?.stop());

  const mapOn = (...args: Parameters<SixServers['mapOn']>) => six.mapOn(...args);
  const fourAndSix = () => six.fourAndSix();
  const places = (map: ShardMap) => six.places(map);

  it('moves what the plan says, each key to its owner with value and TTL, and nothing else', async () => {
    const [from, to] = fourAndSix();
    const all = sampleKeys(from, 3000, Date.now() + 3_600_000);
    await populate(from, all);
    const before = await everywhere(to);

    const plan = await planReshard(from, to);
    expect(await everywhere(to)).toEqual(before);
    const leaving = all.filter(({ key }) => from.whereIs(key) !== to.whereIs(key));
    expect(plan).toMatchObject({ keys: leaving.length, stay: all.length - leaving.length, skipped: 0 });
    for (const { from: source, to: target, keys, bytes } of plan.pairs) {
      const mine = leaving.filter(({ key }) => from.whereIs(key) === source && to.whereIs(key) === target);
      expect(keys).toBe(mine.length);
      expect(bytes).toBeGreaterThan(keys * 30);
    }
    expect(plan.pairs.reduce((sum, { keys }) => sum + keys, 0)).toBe(plan.keys);
    expect(plan.pairs.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(plan.bytes);

    const report = await reshard(from, to);
    expect(report).toMatchObject({
      moved: plan.keys,
      stayed: plan.stay,
      skipped: 0,
      superseded: 0,
      lapsed: 0,
    });
    expect(report.pairs.map(({ from, to, keys }) => [from, to, keys])).toEqual(
      plan.pairs.map(({ from, to, keys }) => [from, to, keys]),
    );
    expect(await faults(to, all)).toEqual([]);
    expect(await places(to)).toEqual(new Map(all.map(({ key }) => [key, [to.whereIs(key)]])));
    expect(await reshard(from, to)).toMatchObject({ moved: 0, pairs: [] });
    expect(await planReshard(from, to)).toMatchObject({ keys: 0, bytes: 0, pairs: [] });
  });

  it('hands minting over first, and never moves a sequence', async () => {
    const [from, to] = fourAndSix();
    const minted = await from.genKeys('user', 500);
    for (const key of minted) await from.getClient(key).set(key, key);
    await reshard(from, to);
    const other = mapOn(shards.servers.slice(0, 4), [1, 2, 1, 3]);
    await expect(other.genKey()).rejects.toThrow(NodeSetConflictError);
    const more = [...(await to.genKeys('user', 500)), ...(await from.genKeys('user', 500))];
    expect(new Set([...minted, ...more]).size).toBe(1500);
    const found = await everywhere(to);
    expect(found.get('$equence')).toHaveLength(6);
    for (const key of minted) expect(await to.getClient(key).get(key)).toBe(key);
  });

  it('needs no handover when only weights change: the old map goes on minting', async () => {
    const { servers } = shards;
    const [from, to] = [mapOn(servers.slice(0, 2), [1, 1]), mapOn(servers.slice(0, 2), [1, 5])];
    const minted = await from.genKeys('user', 200);
    for (const key of minted) await from.getClient(key).set(key, key);
    const { moved } = await reshard(from, to);
    expect(moved).toBeGreaterThan(20);
    expect(await places(to)).toEqual(new Map(minted.map((key) => [key, [to.whereIs(key)]])));
    expect(await from.genKey()).not.toBe(await to.genKey());
  });

  it('empties a node that leaves', async () => {
    const { servers } = shards;
    const [from, to] = [mapOn(servers.slice(0, 3)), mapOn([servers[0]!, servers[2]!])];
    await populate(from, sampleKeys(from, 600, Date.now() + 3_600_000));
    await reshard(from, to);
    expect((await clients[1]!.keys('*')).sort()).toEqual(['$equence', 'idsmith:reshard']);
  });

  it('moves keys there, back and there again', async () => {
    const [from, to] = fourAndSix();
    const all = sampleKeys(from, 500, Date.now() + 3_600_000);
    await populate(from, all);
    await reshard(from, to);
    await reshard(to, from);
    await reshard(from, to);
    expect(await faults(to, all)).toEqual([]);
    expect(await places(to)).toEqual(new Map(all.map(({ key }) => [key, [to.whereIs(key)]])));
  });

  it('leaves keys alone that are not of the map, or on a node that owns them in neither map', async () => {
    const [from, to] = fourAndSix();
    const stray = from.fixedKey(77, 7, 2);
    const neither = shards.servers.findIndex(
      ({ port }, i) => i < 4 && !`${from.addressOf(stray)} ${to.addressOf(stray)}`.includes(`:${port}`),
    );
    const foreign = ['session:42', 'bull:queue:1', 'abc', 'idsmith:lease:{x}'];
    await clients[neither]!.set(stray, 'stray');
    for (const client of clients.slice(0, 4)) for (const key of foreign) await client.set(key, 'foreign');
    expect(await planReshard(from, to)).toMatchObject({ keys: 0, skipped: 17 });
    expect(await reshard(from, to)).toMatchObject({ moved: 0, skipped: 17 });
    expect(await clients[neither]!.get(stray)).toBe('stray');
    for (const client of clients.slice(0, 4))
      expect(await client.mget(foreign)).toEqual(foreign.map(() => 'foreign'));
  });

  it('moves all keys with allKeys: those that are where the old map would look for them', async () => {
    const [from, to] = fourAndSix();
    const names = Array.from({ length: 300 }, (_, i) => `session:${i}`);
    const own = (map: ShardMap, key: string) =>
      clients[shards.servers.findIndex(({ port }) => map.ownerOf(key).port === port)]!;
    for (const key of names) await own(from, key).set(key, key);
    const leaving = names.filter((key) => from.ownerOf(key).address !== to.ownerOf(key).address).length;
    expect(await planReshard(from, to, { allKeys: true })).toMatchObject({ keys: leaving, skipped: 0 });
    expect(await reshard(from, to, { allKeys: true })).toMatchObject({ moved: leaving, skipped: 0 });
    for (const key of names) expect(await own(to, key).get(key)).toBe(key);
  });

  it('moves keys whose suffix is not text', async () => {
    const { servers } = shards;
    const [from, to] = [mapOn([servers[0]!]), mapOn([servers[1]!])];
    const keys = [Buffer.from([0xff, 0xfe, 0x00]), Buffer.from('naïve'), Buffer.from('\uFEFFbom')].map(
      (suffix) => Buffer.concat([Buffer.from('1jyVFw3401-'), suffix]),
    );
    for (const key of keys) await clients[0]!.set(key, 'here');
    expect(await reshard(from, to)).toMatchObject({ moved: 3 });
    for (const key of keys) expect(await clients[1]!.get(key)).toBe('here');
  });

  it('moves no faster than its rate', async () => {
    const { servers } = shards;
    const [from, to] = [mapOn([servers[0]!]), mapOn([servers[1]!])];
    await populate(from, sampleKeys(from, 1500, Date.now() + 3_600_000));
    const { seconds, moved } = await reshard(from, to, { rate: 1500 });
    expect(moved).toBe(1500);
    expect(seconds).toBeGreaterThan(0.8);
  });

  it('reports its progress', async () => {
    const [from, to] = fourAndSix();
    await populate(from, sampleKeys(from, 2000, Date.now() + 3_600_000));
    const told: ReshardProgress[] = [];
    const { moved, bytes } = await reshard(from, to, {
      batch: 50,
      onProgress: (progress) => told.push(progress),
    });
    expect(told.length).toBeGreaterThanOrEqual(moved / 50);
    expect(told.every(({ moved }, i) => i === 0 || moved >= told[i - 1]!.moved)).toBe(true);
    expect(told.every(({ scanned, total }) => scanned <= total)).toBe(true);
    expect(told.some(({ left }) => left !== undefined && left > 0)).toBe(true);
    expect(told.at(-1)).toMatchObject({ moved, bytes });
  });

  it('stops on its signal, with every key on one node, and continues when it is run again', async () => {
    const [from, to] = fourAndSix();
    const all = sampleKeys(from, 2000, Date.now() + 3_600_000);
    await populate(from, all);
    const controller = new AbortController();
    const run = reshard(from, to, {
      batch: 20,
      signal: controller.signal,
      onProgress: ({ moved }) => {
        if (moved > 200) controller.abort(new Error('enough'));
      },
    });
    await expect(run).rejects.toThrow('enough');
    const found = await places(to);
    expect([...found.values()].filter((nodes) => nodes.length !== 1)).toEqual([]);
    expect(found.size).toBe(2000);
    await reshard(from, to);
    expect(await faults(to, all)).toEqual([]);
    expect(await places(to)).toEqual(new Map(all.map(({ key }) => [key, [to.whereIs(key)]])));
    await expect(reshard(from, to, { signal: AbortSignal.abort(new Error('before')) })).rejects.toThrow(
      'before',
    );
  });

  it('lets the two maps themselves find every key while it runs in their process', async () => {
    const [from, to] = fourAndSix();
    const keys = Array.from({ length: 2000 }, (_, i) => from.fixedKey(9_000_000 + i, i, 2));
    for (const key of keys) await from.getClient(key).set(key, key);
    await from.genKey();
    let isOver = false;
    const missed: string[] = [];
    let [reads, minted] = [0, 0];
    const read = async (map: ShardMap) => {
      for (; !isOver; reads++) {
        const key = keys[Math.floor(Math.random() * keys.length)]!;
        if ((await map.getClient(key).get(key)) !== key) missed.push(key);
      }
    };
    const write = async (map: ShardMap) => {
      for (; !isOver; minted++) {
        const key = await map.genKey('user');
        await map.getClient(key).set(key, key);
        keys.push(key);
      }
    };
    const done = reshard(from, to, { rate: 2000 }).finally(() => {
      isOver = true;
    });
    await Promise.all([done, read(from), read(to), write(from), write(to)]);
    expect(missed).toEqual([]);
    expect(Math.min(reads, minted)).toBeGreaterThan(5);
    for (const key of keys) expect(await to.getClient(key).get(key)).toBe(key);
    // The old map forwards from then on. Otherwise it would write to nodes that no longer own the keys.
    await from.getClient(keys[0]!).set(keys[0]!, 'late');
    expect(await to.getClient(keys[0]!).get(keys[0]!)).toBe('late');
    expect(await places(to)).toEqual(new Map(keys.map((key) => [key, [to.whereIs(key)]])));
  });

  it('works with clients of the package redis', async () => {
    const connected = new Map(
      shards.servers.slice(0, 3).map(({ port, url }) => [port, createClient({ url })] as const),
    );
    await Promise.all([...connected.values()].map((client) => client.connect()));
    const config = { createClient: ({ port }: { port: number }) => connected.get(port) } as never;
    const [from, to] = [
      mapOn(shards.servers.slice(0, 2), [], config),
      mapOn(shards.servers.slice(0, 3), [], config),
    ];
    const all = sampleKeys(from, 500, Date.now() + 3_600_000);
    await populate(from, all);
    await reshard(from, to);
    expect(await faults(to, all)).toEqual([]);
    expect(await places(to)).toEqual(new Map(all.map(({ key }) => [key, [to.whereIs(key)]])));
    for (const client of connected.values()) client.destroy();
  });
});
