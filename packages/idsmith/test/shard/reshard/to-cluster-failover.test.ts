import { StoreError } from 'idsmith';
import { reshard } from 'idsmith/shard';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '#services';
import { RingAndCluster } from './ring-and-cluster.ts';
import { faultsThrough, populate, sampleKeys } from './sample-keys.ts';

await describeWith(['redis'], 'Resharding to a Redis Cluster with replicas', () => {
  let both: RingAndCluster;

  beforeAll(async () => {
    both = await RingAndCluster.start({ replicas: 1 });
  });
  afterAll(() => both?.stop());

  it('loses no key when replicas take over from all masters, and continues', async () => {
    const [from] = both.maps();
    await from.genKey();
    const all = sampleKeys(from, 1500, Date.now() + 3_600_000);
    await populate(from, all);
    const waiting = [...both.cluster.replicas];
    const onProgress = () => {
      const replica = waiting.shift();
      // Without the consent of the master, as after its death.
      if (replica !== undefined) void replica.command('CLUSTER', 'FAILOVER', 'FORCE');
    };
    for (let run = 1; ; run++) {
      const error = await reshard(...both.maps(), { batch: 25, rate: 300, onProgress }).catch(
        (error) => error,
      );
      if (!(error instanceof Error)) break;
      expect(error).toBeInstanceOf(StoreError);
      expect(run, error.message).toBeLessThan(20);
    }
    expect(waiting).toEqual([]);
    const [, to] = both.maps();
    expect(await faultsThrough(to, all)).toEqual([]);
    const left = await both.keysOf(both.ring.servers);
    expect(left.filter((key) => !/^(\$equence|idsmith:reshard)$/.test(key))).toEqual([]);
  }, 120_000);
});
