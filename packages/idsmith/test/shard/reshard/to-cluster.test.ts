import { InvalidOptionError } from 'idsmith';
import { abortReshard, planReshard, reshard, ShardMap, TransitionMap } from 'idsmith/shard';
import { createCluster } from 'redis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeWith } from '#services';
import type { AfterStep } from '../../../src/shard/reshard/move/key-mover.ts';
import { repeated } from '../../support/unique.ts';
import { positionOf } from '../start-shards.ts';
import { RingAndCluster } from './ring-and-cluster.ts';
import { faults, faultsThrough, populate, type SampleKey, sampleKeys } from './sample-keys.ts';

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
    all = sampleKeys(from, 300, Date.now() + 3_600_000);
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
    const error = await run(...both.maps(), { batch: 20, afterStep } as object).catch((error) => error);
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

  describe.each(['claimed', 'taken', 'put', 'dropped', 'settled'] as const)(
    'that is killed at %s',
    (point) => {
      it('is continued by the next run', async () => {
        await killedAt(point, reshard);
        const { superseded } = await reshard(...both.maps());
        expect(superseded).toBe(0);
        await expectAllInCluster();
      });

      it('is given up, also by an abort that is killed there, and may begin again', async () => {
        const [ring] = both.maps();
        const before = await ring.genKeys('user', 100);
        await killedAt('settled', reshard);
        await killedAt(point, reshard);
        const during = await both.maps()[1].genKeys('user', 100);
        await killedAt(point, abortReshard, 1);
        await abortReshard(...both.maps());
        await expectAllInRing();
        const back = await both.maps()[0].genKeys('user', 100);
        await reshard(...both.maps());
        await expectAllInCluster();
        const again = await both.maps()[1].genKeys('user', 100);
        expect(repeated([...before, ...during, ...back, ...again].map(positionOf))).toEqual([]);
      });
    },
  );

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

  it('works with clients of the package redis', async () => {
    const cluster = createCluster({ rootNodes: both.cluster.nodes.map(({ url }) => ({ url })) });
    await cluster.connect();
    const [ring, onCluster] = both.configs;
    const configs = [
      { ...ring, driver: 'redis' },
      { ...onCluster, cluster },
    ] as const;
    const map = new TransitionMap(...configs);
    const key = map.fixedKey(9_000_000, 1, 2);
    await map.getClient(key).rPush(`${key}-list`, ['1', `${key}-2`]);
    expect(() => map.getClient(key).sendCommand(['GET', key])).toThrow('sendCommand must not be used');
    const maps = configs.map((config) => new ShardMap(config)) as [ShardMap, ShardMap];
    expect(await reshard(...maps)).toMatchObject({ moved: all.length + 1 });
    expect(await map.getClient(key).lRange(`${key}-list`, 0, -1)).toEqual(['1', `${key}-2`]);
    expect(await both.client.llen(`{${key}}-list`)).toBe(2);
    await Promise.all([map, ...maps].map((one) => one.close()));
    cluster.destroy();
    expect(await faultsThrough(both.maps()[1], all)).toEqual([]);
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
