import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '#services';
import { reshardUnderLoad } from './kill-under-load.ts';
import { moveSlots } from './move-slots.ts';
import { RingAndCluster } from './ring-and-cluster.ts';

await describeWith(['redis'], 'Resharding to a Redis Cluster while applications go on', () => {
  let both: RingAndCluster;

  beforeAll(async () => {
    both = await RingAndCluster.start();
  });
  afterAll(() => both?.stop());

  it('killed with -9 again and again, while the cluster moves its slots, loses no key and no write', async () => {
    const [from, to] = both.portableConfigs;
    let slots = 0;
    let keys = 0;
    let isOver = false;
    const outcome = reshardUnderLoad({
      ...{ from, to, keys: 2000, kills: 3, longest: 1000, workers: 2, rate: 300 },
      meanwhile: async () => {
        const [first, second, third] = both.cluster.masters as [never, never, never];
        // One slot after the other, from the first master to the second.
        for (; !isOver && slots < 4000; slots++) keys += await moveSlots(first, second, [slots], [third]);
      },
    }).finally(() => {
      isOver = true;
    });
    const { problems, killed, reads, writes, minted, report } = await outcome;
    expect(problems).toEqual([]);
    expect(killed).toBe(3);
    expect(report.moved).toBeGreaterThan(0);
    for (const count of [reads, writes, minted, slots, keys]) expect(count).toBeGreaterThan(20);
    const left = await both.keysOf(both.ring.servers);
    expect(left.filter((key) => !/^(\$equence|idsmith:reshard)$/.test(key))).toEqual([]);
    const reserved = (await both.keysOf(both.cluster.masters)).filter((name) => name.startsWith('idsmith'));
    expect(reserved).toEqual(['idsmith:reshard']);
  }, 240_000);
});
