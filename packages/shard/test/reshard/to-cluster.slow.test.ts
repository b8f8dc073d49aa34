import {
  abortReshard,
  planReshard,
  reshard,
  type ShardConfig,
  ShardMap,
  TransitionMap,
} from '@idsmith/shard';
import { InvalidOptionError } from 'idsmith';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith } from '#services';
import { CLUSTER_DRIVERS, DRIVERS } from '../../../idsmith/test/support/drivers.ts';
import { repeated } from '../../../idsmith/test/support/unique.ts';
import {
  faults,
  faultsThrough,
  populate,
  type SampleKey,
  sampleKeys,
} from '../../../verify/src/runs/reshard/sample-keys.ts';
import { slotOf, tagOfSlot } from '../../src/keys/slots.ts';
import type { ClusterConnection } from '../../src/reshard/cluster-connection.ts';
import { type OwnerChange, ReshardContext } from '../../src/reshard/context.ts';
import { KeyMover } from '../../src/reshard/key-mover.ts';
import type { AfterStep } from '../../src/reshard/options.ts';
import { beginReshard, stopReshard } from '../../src/reshard/phase.ts';
import { reservedKeyOf } from '../../src/reshard/redis-keys.ts';
import { positionOf } from '../start-shards.ts';
import { RingAndCluster } from './ring-and-cluster.ts';

const STEPS = ['claimed', 'taken', 'put', 'dropped', 'settled'] as const;
const RESERVED = ['$equence', 'idsmith:reshard'];

await describeWith(['redis'], 'A resharding from a ring to a Redis Cluster', () => {
  let both: RingAndCluster;
  let all: SampleKey[];

  beforeAll(async () => {
    both = await RingAndCluster.start();
  });
  beforeEach(async () => {
    await both.empty();
    const [from] = both.maps();
    await from.genKey();
    all = sampleKeys(from, 200, Date.now() + 3_600_000);
    await populate(from, all);
  });
  afterAll(() => both?.stop());

  /** Runs the resharding or the abort, and ends it at one of the steps, as kill -9 would. */
  async function killedAt(
    point: Parameters<AfterStep>[0],
    run: typeof reshard | typeof abortReshard,
    batches = 3,
  ) {
    let left = batches;
    const afterStep: AfterStep = (step) => {
      if (step === point && --left <= 0) throw new Error('killed');
    };
    const error = await run(...both.maps(), { batch: 10, afterStep } as object).catch((error) => error);
    expect(error.message).toBe('killed');
  }

  async function expectAllInCluster(): Promise<void> {
    const [, to] = both.maps();
    expect(await faultsThrough(to, all)).toEqual([]);
    const left = await both.keysOf(both.ring.servers);
    expect(left.filter((key) => !RESERVED.includes(key))).toEqual([]);
    const names = await both.keysOf(both.cluster.masters);
    expect(names.filter((name) => !RESERVED.includes(name))).toEqual(
      all.map(({ key }) => key.replace(/^(\w+)-/, '{$1}-')).sort(),
    );
  }

  async function expectAllInRing(): Promise<void> {
    const [from] = both.maps();
    expect(await faults(from, all)).toEqual([]);
    const names = await both.keysOf(both.cluster.masters);
    expect(names.filter((name) => !RESERVED.includes(name))).toEqual([]);
    const left = await both.keysOf(both.ring.servers);
    expect(left.filter((key) => !RESERVED.includes(key))).toEqual(all.map(({ key }) => key).sort());
  }

  it('counts first, and then moves keys of every type with their TTLs, and suffixed keys to the slot of their stem', async () => {
    const [from, to] = both.maps();
    const before = await from.genKeys('user', 2000);
    expect(await planReshard(from, to)).toMatchObject({ keys: all.length, stay: 0 });
    expect((await both.keysOf(both.cluster.masters)).length).toBe(0);
    const report = await reshard(from, to);
    expect(report).toMatchObject({ moved: all.length, skipped: 0, superseded: 0 });
    expect(report.pairs.map((pair) => pair.to)).toEqual(['cluster', 'cluster']);
    await expectAllInCluster();
    const suffixed = all.find(({ key }) => key.includes('-'))?.key as string;
    const stem = suffixed.split('-')[0] as string;
    const slots = [stem, `{${stem}}-part`].map((name) =>
      both.cluster.masters[0]?.command('CLUSTER', 'KEYSLOT', name),
    );
    const [one, other] = await Promise.all(slots);
    expect(one).toBe(other);
    // Both maps mint, and nothing comes twice.
    const after = [...(await to.genKeys('user', 2000)), ...(await from.genKeys('user', 10))];
    expect(repeated([...before, ...after].map(positionOf))).toEqual([]);
    await expect(new ShardMap(both.configs[0]).genKey()).rejects.toThrow(InvalidOptionError);
    expect(await from.getClient(stem).type(suffixed)).not.toBe('none');
  });

  it('leaves keys of other programs alone, and names that look like tagged ones', async () => {
    const names = ['session:42', 'heartbeat', `{${all[0]?.key.split('-')[0]}}-part`];
    const [from, to] = both.maps();
    const client = from.clientOf(from.nodes[0]!);
    for (const name of names) await client.set(name, 'theirs');
    const report = await reshard(from, to, { pattern: /^\{/ });
    expect([...report.skippedKeys].sort()).toEqual([...names].sort());
    for (const name of names) expect(await client.get(name)).toBe('theirs');
  });

  it('that is killed at every step is continued by the next run', async () => {
    for (const point of STEPS) await killedAt(point, reshard, 2);
    const { superseded } = await reshard(...both.maps());
    expect(superseded).toBe(0);
    await expectAllInCluster();
  });

  it.each(STEPS)('that is killed at %s is given up, also by an abort that is killed there', async (point) => {
    await killedAt(point, reshard, 5);
    await killedAt(point, abortReshard, 1);
    await abortReshard(...both.maps());
    await expectAllInRing();
  });

  it('that was given up hands minting back, and may begin again', async () => {
    const before = await both.maps()[0].genKeys('user', 100);
    await killedAt('settled', reshard);
    const during = await both.maps()[1].genKeys('user', 100);
    await abortReshard(...both.maps());
    const back = await both.maps()[0].genKeys('user', 100);
    await reshard(...both.maps());
    await expectAllInCluster();
    const again = await both.maps()[1].genKeys('user', 100);
    expect(repeated([...before, ...during, ...back, ...again].map(positionOf))).toEqual([]);
  });

  it('lets a map in transition read, write and delete all along: there, back, and there again', async () => {
    const map = both.transition();
    const key = map.fixedKey(9_000_000, 1, 2);
    const [part, ref] = [`${key}-part`, `${key}-ref`];
    const use = async (step: number) => {
      const client = map.getClient(key);
      expect(await client.incr(key)).toBe(step);
      // A value that looks like a key stays as it is.
      await client.multi().hset(part, 'ref', ref, 'step', step).del(ref).exec();
      expect(await client.hgetall(part)).toEqual({ ref, step: String(step) });
      expect(await client.exists(ref)).toBe(0);
      await client.rename(part, ref);
      await client.rename(ref, part);
      expect(await client.mget([key, ref])).toEqual([String(step), null]);
    };
    await use(1);
    await killedAt('taken', reshard);
    await use(2);
    expect(map.whereIs(key)).toBe('cluster');
    await killedAt('dropped', reshard);
    expect(await both.client.hget(`{${key}}-part`, 'step')).toBe('2');
    await abortReshard(...both.maps());
    await use(3);
    expect(map.whereIs(key)).not.toBe('cluster');
    await reshard(...both.maps());
    await use(4);
    const after = new ShardMap(both.configs[1]);
    expect(await after.getClient(key).hget(part, 'step')).toBe('4');
    expect(() => map.getClient(key).mset(part, '1')).toThrow('nobody can tell which arguments are keys');
  });

  it.each(Object.keys(CLUSTER_DRIVERS))('works with clients of %s, there and back', async (driver) => {
    const open = await CLUSTER_DRIVERS[driver]!(both.cluster.nodes.map(({ port }) => port));
    const ports = both.ring.servers.map(({ port }) => port);
    const clients = new Map(
      await Promise.all(ports.map(async (port) => [port, await DRIVERS[driver]!(port)] as const)),
    );
    const [ring, onCluster] = both.configs;
    const configs = [
      { ...ring, createClient: ({ port }) => clients.get(port)!.client },
      { ...onCluster, cluster: open.client },
    ] as [ShardConfig, ShardConfig];
    const made: ShardMap[] = [];
    const maps = () => {
      const two = configs.map((config) => new ShardMap(config)) as [ShardMap, ShardMap];
      made.push(...two);
      return two;
    };
    const map = new TransitionMap(...configs);
    made.push(map);
    const key = map.fixedKey(9_000_000, 1, 2);
    const isRedis = driver.startsWith('redis');
    const list = async () => {
      const client = map.getClient(key);
      return isRedis ? client.lRange(`${key}-list`, 0, -1) : client.lrange(`${key}-list`, 0, -1);
    };
    if (isRedis) await map.getClient(key).rPush(`${key}-list`, ['1', `${key}-2`]);
    else await map.getClient(key).rpush(`${key}-list`, '1', `${key}-2`);
    if (isRedis)
      expect(() => map.getClient(key).sendCommand(['GET', key])).toThrow('sendCommand must not be used');
    const error = await reshard(...maps(), {
      batch: 50,
      afterStep: (step: string) => {
        if (step === 'dropped') throw new Error('killed');
      },
    } as object).catch((error) => error);
    expect(error.message).toBe('killed');
    expect(await list()).toEqual(['1', `${key}-2`]);
    await abortReshard(...maps());
    expect(await list()).toEqual(['1', `${key}-2`]);
    expect(await reshard(...maps())).toMatchObject({ moved: all.length + 1 });
    expect(await list()).toEqual(['1', `${key}-2`]);
    expect(await both.client.llen(`{${key}}-list`)).toBe(2);
    await Promise.all(made.map((one) => one.close()));
    for (const { end } of [open, ...clients.values()]) end();
    expect(await faultsThrough(both.maps()[1], all)).toEqual([]);
  });

  it('waits for the disks of all masters before a key is deleted at its old owner, if the servers can tell', async () => {
    const { masters } = both.cluster;
    const set = (...words: string[]) =>
      Promise.all(masters.map((master) => master.command('CONFIG', 'SET', ...words)));
    await set('appendonly', 'yes');
    await set('appendfsync', 'always');
    await Promise.all(masters.map((master) => master.command('CONFIG', 'RESETSTAT')));
    expect(await reshard(...both.maps())).toMatchObject({ moved: all.length });
    const [, major, minor] = /redis_version:(\d+)\.(\d+)/.exec(await masters[0]!.command('INFO', 'server'))!;
    const isAble = Number(major) > 7 || (major === '7' && Number(minor) >= 2);
    for (const master of masters) {
      const stats = await master.command('INFO', 'commandstats');
      expect(stats.includes('cmdstat_waitaof')).toBe(isAble);
      // Lists of 16,384 slots are not read one by one.
      expect(Number(/cmdstat_hkeys:calls=(\d+)/.exec(stats)?.[1] ?? 0)).toBeLessThan(1000);
    }
    await set('appendonly', 'no');
    await set('appendfsync', 'no');
    await expectAllInCluster();
  });

  it('keeps a key at its old owner if the cluster loses the copy before the key is deleted there', async () => {
    const reserved = await Promise.all(RESERVED.map((name) => both.client.cluster('KEYSLOT', name)));
    // The masters share the slots evenly, in their order. This one has neither the state nor the sequence.
    const holders = reserved.map((slot) => Math.floor(slot / (16_384 / 3)));
    const emptied = both.cluster.masters[[0, 1, 2].find((i) => !holders.includes(i)) as number]!;
    let arrived = 0;
    let release = () => {};
    const loss = new Promise<void>((resolve) => {
      release = resolve;
    });
    // Each old node has one batch. Both wait here until the copies are lost, as in a failover to a replica that lags.
    const afterStep: AfterStep = async (step) => {
      if (step !== 'put' || ++arrived > 2) return;
      if (arrived === 2) {
        expect(Number((await emptied.command('DBSIZE')).replace(/\D/g, ''))).toBeGreaterThan(10);
        await emptied.command('FLUSHALL');
        release();
      }
      await loss;
    };
    await reshard(...both.maps(), { batch: 1000, afterStep } as object);
    expect(arrived).toBeGreaterThan(2);
    await expectAllInCluster();
  });

  it('that a full master stops is given up, although that master is still full', async () => {
    const full = both.cluster.masters[2]!;
    await full.command('CONFIG', 'SET', 'maxmemory', '1mb');
    const error = await reshard(...both.maps(), { batch: 10 }).catch((error) => error);
    expect(error.message).toContain('OOM');
    const returned = await abortReshard(...both.maps()).catch((error) => error);
    await full.command('CONFIG', 'SET', 'maxmemory', '0');
    expect(returned).not.toBeInstanceOf(Error);
    await expectAllInRing();
  });

  it('that began again is not disturbed by processes of an earlier round', async () => {
    const begin = async () => {
      const context = new ReshardContext(...both.maps());
      const { round } = await beginReshard(context, undefined);
      return { context, round, cluster: context.targets.get('cluster') as ClusterConnection };
    };
    const { key } = all[0] as SampleKey;
    const move = ({ context, round }: Awaited<ReturnType<typeof begin>>, afterStep?: AfterStep) =>
      new KeyMover(context.reshardId, { round, afterStep }).move(
        context.ownerChangeOf(key.split('-')[0] as string) as OwnerChange,
        [key],
      );
    const first = await begin();
    await move(first);
    let second = first;
    // The cluster has the key, so this mover would only have to drop it at the old owner.
    const stopped = move(first, async (step) => {
      if (step !== 'claimed') return;
      await abortReshard(...both.maps());
      // An abort that was stopped opens its slots late.
      await first.cluster.openSlots(first.context.reshardId, first.round, 'late');
      second = await begin();
    });
    await expect(stopped).rejects.toThrow('reading keys failed');
    expect(await faults(both.maps()[0], all)).toEqual([]);
    expect(await move(second)).toMatchObject({ keys: 1 });
    const { round } = await stopReshard(second.context, undefined);
    await second.cluster.openSlots(second.context.reshardId, round, 'present');
    await first.cluster.openSlots(first.context.reshardId, first.round, 'late');
    await first.cluster.closeSlots(first.round);
    const slot = reservedKeyOf('idsmith:reshard', tagOfSlot(slotOf(key.split('-')[0] as string)));
    expect(await both.client.hget(slot, 'round')).toBe(String(round));
    await abortReshard(...both.maps());
    await expectAllInRing();
  });

  it('refuses, before anything changes, what a cluster cannot do', async () => {
    const [from, to] = both.maps();
    const { hashTags: _, ...untagged } = both.configs[1];
    await expect(reshard(to, from)).rejects.toThrow('from must have shards');
    await expect(reshard(from, new ShardMap(untagged))).rejects.toThrow('to must have hashTags: true');
    await expect(reshard(from, to, { allKeys: true })).rejects.toThrow('allKeys must be false');
    expect(() => new ShardMap({ ...both.configs[0], hashTags: true })).toThrow(InvalidOptionError);
    expect((await both.keysOf(both.cluster.masters)).length).toBe(0);
    await expectAllInRing();
  });
});
