import type { LeaseRecord } from 'idsmith';
import { leaseStoreCases, sequenceStoreCases } from 'idsmith/testing';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { describeWith, type Etcd, startEtcd } from '#services';
import { depth } from '../../../../../test/depth.ts';
import { etcdStore } from '../../../src/stores/etcd/store.ts';
import type { Store } from '../../../src/stores/store.ts';
import { notBeside, startLoad } from '../support/runs.ts';

const HELD: LeaseRecord = { id: 0, owner: 'a', epoch: 1, fence: 1000, expiresAt: 2000, label: 'host 1' };

// One node has the same cases in leases.slow.test.ts: three are for `npm run test:long`.
if (depth > 0)
  await describeWith(['etcd'], 'The etcd store with 3 nodes', () => {
    let etcd: Etcd;
    let store: Store;

    beforeAll(async () => {
      etcd = await startEtcd({ nodes: 3 });
      store = etcdStore({ endpoints: etcd.endpoints });
    });

    afterAll(() => etcd?.stop());

    for (const { name, run } of leaseStoreCases(() => store)) it(name, run);
    for (const { name, run } of sequenceStoreCases(() => store)) it(name, run);
  });

await describeWith(['etcd'], 'The etcd store on a cluster that loses its leader', () => {
  it('works again, has lost nothing, and gives no id of a sequence twice', async () => {
    const etcd = await startEtcd({ nodes: 3 });
    const open = () => etcdStore({ endpoints: etcd.endpoints });
    const store = open();
    await store.swapLease('leader', undefined, HELD);
    await store.defineSequence({ name: 'leader' });
    const load = startLoad([store, ...Array.from({ length: 7 }, open)], 'leader');
    await expect.poll(() => load.blocks.length).toBeGreaterThan(100);
    // On a busy machine an election may be under way.
    let leader = -1;
    await vi.waitUntil(async () => {
      leader = (await Promise.all(etcd.endpoints.map(isLeader))).indexOf(true);
      return leader >= 0;
    }, 20_000);
    await etcd.nodes[leader]!.kill();
    await expect.poll(() => store.listLeases('leader').catch(String)).toEqual([HELD]);
    expect(await store.swapLease('leader', HELD, { ...HELD, epoch: 2 })).toBe(true);
    const before = load.blocks.length;
    await expect.poll(() => load.blocks.length).toBeGreaterThan(before + 100);
    expect(notBeside(await load.stop(), 'overlap')).toEqual([]);
    await etcd.stop();
  });
});

async function isLeader(endpoint: string): Promise<boolean> {
  const response = await fetch(`${endpoint}/v3/maintenance/status`, { method: 'POST', body: '{}' });
  const { header, leader } = (await response.json()) as { header: { member_id: string }; leader: string };
  return header.member_id === leader;
}
