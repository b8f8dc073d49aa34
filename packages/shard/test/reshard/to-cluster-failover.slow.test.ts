import { setTimeout as sleep } from 'node:timers/promises';
import { abortReshard, planReshard, reshard, ShardMap } from '@idsmith/shard';
import { InvalidOptionError, StoreError } from 'idsmith';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '#services';
import { CLUSTER_DRIVERS } from '../../../idsmith/test/support/drivers.ts';
import { faultsThrough, populate, sampleKeys } from '../../../verify/src/runs/reshard/sample-keys.ts';
import { RingAndCluster } from './ring-and-cluster.ts';

await describeWith(['redis'], 'Resharding to a Redis Cluster with replicas', () => {
  let both: RingAndCluster;

  beforeAll(async () => {
    both = await RingAndCluster.start({ replicas: 1 });
  });
  afterAll(() => both?.stop());

  it.each([
    ['ioredis 5.8.1', { scaleReads: 'slave' }, 'scaleReads must be master'],
    ['ioredis 6.0.0', { scaleReads: 'all' }, 'scaleReads must be master'],
    ['redis 5.11.0', { useReplicas: true }, 'useReplicas must be false'],
    ['redis 6.3.1', { useReplicas: true }, 'useReplicas must be false'],
  ])('refuses a client of %s that reads from replicas', async (driver, options, message) => {
    const ports = both.cluster.nodes.map(({ port }) => port);
    const { client, end } = await CLUSTER_DRIVERS[driver]!(ports, options);
    const [from] = both.maps();
    const to = new ShardMap({ ...both.configs[1], cluster: client });
    for (const run of [planReshard, reshard, abortReshard]) {
      const error = await run(from, to).catch((error) => error);
      expect(error).toBeInstanceOf(InvalidOptionError);
      expect(error.message).toContain(message);
    }
    expect(await both.keysOf(both.cluster.masters)).toEqual([]);
    await to.close();
    end();
  });

  it('loses no key when replicas take over from all masters, and continues', async () => {
    const [from] = both.maps();
    await from.genKey();
    const all = sampleKeys(from, 1500, Date.now() + 3_600_000);
    await populate(from, all);
    const waiting = [...both.cluster.replicas];
    const onProgress = () => {
      const replica = waiting.shift();
      // Without the consent of the master, as after its death.
      if (replica !== undefined) void replica.command('CLUSTER', 'FAILOVER', 'FORCE').catch(() => {});
    };
    for (let run = 1; ; run++) {
      const error = await reshard(...both.maps(), { batch: 25, rate: 300, onProgress }).catch(
        (error) => error,
      );
      if (!(error instanceof Error)) break;
      expect(error).toBeInstanceOf(StoreError);
      // The masters agree on the replicas in their own time.
      expect(run, error.message).toBeLessThan(200);
      await sleep(250);
    }
    expect(waiting).toEqual([]);
    const [, to] = both.maps();
    expect(await faultsThrough(to, all)).toEqual([]);
    const left = await both.keysOf(both.ring.servers);
    expect(left.filter((key) => !/^(\$equence|idsmith:reshard)$/.test(key))).toEqual([]);
  }, 300_000);
});
