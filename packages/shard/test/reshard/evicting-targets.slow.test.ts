import { planReshard, reshard, type ShardMap, TransitionMap } from '@idsmith/shard';
import { StoreError } from 'idsmith';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith, type RedisServer } from '#services';
import {
  faults,
  faultsThrough,
  populate,
  type SampleKey,
  sampleKeys,
} from '../../../verify/src/runs/reshard/sample-keys.ts';
import { ringOf } from '../start-shards.ts';
import { RingAndCluster } from './ring-and-cluster.ts';
import { SixServers } from './six-servers.ts';

const POLICIES = ['allkeys-lru', 'allkeys-random', 'volatile-lru', 'volatile-ttl'];

async function setPolicy(server: RedisServer, policy: string, maxmemory = '1gb'): Promise<void> {
  await server.command('CONFIG', 'SET', 'maxmemory', maxmemory);
  await server.command('CONFIG', 'SET', 'maxmemory-policy', policy);
}

await describeWith(['redis'], 'A new owner that removes keys when it is full', () => {
  let six: SixServers;
  let target: RedisServer;
  let from: ShardMap;
  let to: ShardMap;
  let all: SampleKey[];

  beforeAll(async () => {
    six = await SixServers.start();
    target = six.shards.servers[2]!;
  });
  beforeEach(async () => {
    await six.empty();
    const { servers } = six.shards;
    [from, to] = [six.mapOn(servers.slice(0, 2)), six.mapOn(servers.slice(1, 3))];
    all = sampleKeys(from, 600, Date.now() + 3_600_000);
    await populate(from, all);
    await from.genKey();
  });
  afterEach(async () => {
    await setPolicy(target, 'noeviction', '0');
    await six.closeMaps();
  });
  afterAll(() => six?.stop());

  function expectRefusal(error: unknown, policy: string): void {
    expect(error).toBeInstanceOf(StoreError);
    expect((error as Error).message).toContain(`node 127.0.0.1:${target.port} removes keys when it is full`);
    expect((error as Error).message).toContain(`maxmemory-policy ${policy}`);
    expect((error as Error).message).toContain('acceptEvictingTarget (--accept-evicting-target)');
  }

  it.each(POLICIES)('by %s is refused before anything is changed, in a dry run, too', async (policy) => {
    await setPolicy(target, policy);
    for (const run of [planReshard, reshard]) {
      const error = await run(from, to).catch((error) => error);
      expectRefusal(error, policy);
      expect(error.message).toContain('Nothing was changed');
    }
    expect(await six.clients[2]!.dbsize()).toBe(0);
    expect(await from.genKeys('user', 3)).toHaveLength(3);
    expect(await faults(from, all)).toEqual([]);
  });

  it('is no danger without a limit of its memory', async () => {
    await setPolicy(target, 'allkeys-lru', '0');
    await reshard(from, to);
    expect(await faults(to, all)).toEqual([]);
  });

  it('since keys are moved gets no more keys: all of them are at their old owners or at their new ones', async () => {
    let batches = 0;
    const afterStep = async (step: string) => {
      if (step === 'settled' && ++batches === 3) await setPolicy(target, 'allkeys-lru');
    };
    const error = await reshard(from, to, { batch: 10, afterStep } as object).catch((error) => error);
    expectRefusal(error, 'allkeys-lru');
    expect(error.message).toContain('The keys are still at their old owners');
    expect(await six.clients[2]!.dbsize()).toBeGreaterThan(2);
    // An application is told, too, and its keys stay where they are.
    const shards = (first: number) => ({
      ...six.shards.config,
      ...ringOf(six.shards.servers.slice(first, first + 2)),
    });
    const map = new TransitionMap(shards(0), shards(1));
    six.maps.push(map as ShardMap<unknown>);
    const clients = [six.clients[0]!, six.clients[1]!];
    const isLeft = async ({ key }: SampleKey) => {
      const [owner, next] = [from.ownerOf(key), to.ownerOf(key)];
      return next.port === target.port && (await clients[owner.index]!.exists(key)) === 1;
    };
    let left: SampleKey | undefined;
    for (const sample of all) if (await isLeft(sample)) left = sample;
    expectRefusal(
      await map
        .getClient(left!.key)
        .type(left!.key)
        .catch((error: Error) => error),
      'allkeys-lru',
    );
    expect(await isLeft(left!)).toBe(true);
    await setPolicy(target, 'noeviction');
    expect(await map.getClient(left!.key).exists(left!.key)).toBe(1);
    await reshard(from, to);
    expect(await faults(to, all)).toEqual([]);
  });

  it('is accepted by name, from the beginning or later, by the move and by maps in transition', async () => {
    let batches = 0;
    const afterStep = async (step: string) => {
      if (step === 'settled' && ++batches === 3) await setPolicy(target, 'allkeys-lru');
    };
    await expect(reshard(from, to, { batch: 10, afterStep } as object)).rejects.toThrow('removes keys');
    await planReshard(from, to, { acceptEvictingTarget: true });
    const controller = new AbortController();
    const onProgress = () => controller.abort(new Error('enough'));
    const { signal } = controller;
    const accepting = { acceptEvictingTarget: true, batch: 10, signal, onProgress };
    await expect(reshard(from, to, accepting)).rejects.toThrow('enough');
    for (const map of [from, to]) expect(await faultsThrough(map, all.slice(0, 100))).toEqual([]);
    // The acceptance is kept on the nodes.
    await reshard(from, to);
    expect(await faults(to, all)).toEqual([]);
  });
});

await describeWith(['redis'], 'A master of a Redis Cluster that removes keys when it is full', () => {
  let both: RingAndCluster;
  let all: SampleKey[];

  beforeAll(async () => {
    both = await RingAndCluster.start();
  });
  beforeEach(async () => {
    await both.empty();
    const [from] = both.maps();
    await from.genKey();
    // Many more than the batches that are under way at once: some are left when the first ones have settled.
    all = sampleKeys(from, 2000, Date.now() + 3_600_000);
    await populate(from, all);
  });
  afterEach(() => setPolicy(both.cluster.masters[2]!, 'noeviction', '0'));
  afterAll(() => both?.stop());

  it('is refused before anything is changed, in a dry run, too', async () => {
    await setPolicy(both.cluster.masters[2]!, 'volatile-ttl');
    for (const run of [planReshard, reshard])
      await expect(run(...both.maps())).rejects.toThrow(
        'node cluster removes keys when it is full (maxmemory-policy volatile-ttl)',
      );
    expect(await both.keysOf(both.cluster.masters)).toEqual([]);
    await reshard(...both.maps(), { acceptEvictingTarget: true });
    expect(await faultsThrough(both.maps()[1], all)).toEqual([]);
  });

  it('since keys are moved gets no more keys', async () => {
    let batches = 0;
    const afterStep = async (step: string) => {
      if (step === 'settled' && ++batches === 2) await setPolicy(both.cluster.masters[2]!, 'allkeys-lfu');
    };
    await expect(reshard(...both.maps(), { batch: 10, afterStep } as object)).rejects.toThrow(
      'node cluster removes keys when it is full (maxmemory-policy allkeys-lfu)',
    );
    await setPolicy(both.cluster.masters[2]!, 'noeviction');
    await reshard(...both.maps());
    expect(await faultsThrough(both.maps()[1], all)).toEqual([]);
  });
});
