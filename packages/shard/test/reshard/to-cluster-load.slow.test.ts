import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '#services';
import { moveSlots } from '../../../verify/src/runs/reshard/fault-field.ts';
import { reshardUnderLoad } from '../../../verify/src/runs/reshard/kill-under-load.ts';
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
    const outcome = reshardUnderLoad({
      from,
      to,
      keys: 600,
      kills: 2,
      longest: 300,
      workers: 1,
      rate: 60,
      meanwhile: async (isOver) => {
        const [first, second, third] = both.cluster.masters as [never, never, never];
        // Some slots after the others, from the first master to the second, and back: on a busy machine, keys may arrive after their slots.
        let [source, target] = [first, second];
        for (let at = 0; !isOver() || keys === 0; slots += 20) {
          const some = Array.from({ length: 20 }, (_, i) => at + i);
          keys += await moveSlots(source, target, some, [third]);
          at = (at + 20) % 5000;
          if (at === 0) [source, target] = [target, source];
          // Keys arrive while slots move, and not after them. A slot holds one time in twenty a key.
          await sleep(40);
        }
      },
    });
    const { problems, killed, reads, writes, minted, report } = await outcome;
    expect(problems).toEqual([]);
    // The second kill may come too late on a machine that is busy.
    expect(killed).toBeGreaterThan(0);
    expect(report.moved).toBeGreaterThan(0);
    for (const count of [reads, writes, minted, slots]) expect(count).toBeGreaterThan(20);
    expect(keys).toBeGreaterThan(0);
    const left = await both.keysOf(both.ring.servers);
    expect(left.filter((key) => !/^(\$equence|idsmith:reshard)$/.test(key))).toEqual([]);
    const reserved = (await both.keysOf(both.cluster.masters)).filter((name) => name.startsWith('idsmith'));
    expect(reserved).toEqual(['idsmith:reshard']);
  }, 400_000);
});
