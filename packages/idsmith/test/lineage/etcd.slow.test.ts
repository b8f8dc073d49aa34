import { acquireLease, type Block, type LeaseRecord } from 'idsmith';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeWith, type Etcd, startEtcd } from '#services';
import { etcdStore } from '../../src/stores/etcd/store.ts';
import type { Store } from '../../src/stores/store.ts';
import { allRepeats, Minter, NO_REPEATS } from './minters.ts';

await describeWith(['etcd', 'etcdctl'], 'An etcd whose snapshot is restored', () => {
  let etcd: Etcd;
  const open = () => etcdStore({ endpoints: etcd.endpoints, timeout: 20_000 });

  beforeEach(async () => {
    etcd = await startEtcd();
  });
  afterEach(() => etcd?.stop());

  const idsOf = ({ first, step, count }: Block) =>
    Array.from({ length: count }, (_, i) => first + BigInt(step * i));

  async function take(store: Store, blocks: number): Promise<bigint[]> {
    const ids: bigint[] = [];
    for (let i = 0; i < blocks; i++) ids.push(...idsOf(await store.allocate('orders', 1)));
    return ids;
  }

  it.each(['survivor', 'newcomer'])('repeats no number, whoever comes first: a %s', async (first) => {
    const [one, two, three] = [new Minter(open()), new Minter(open()), new Minter(open())];
    await one.store.defineSequence({ name: 'orders' });
    for (const each of [one, two]) await each.take(5);
    const snapshot = await etcd.snapshot();
    for (const each of [one, two]) await each.take(20);
    const forgotten = new Minter(open());
    await forgotten.begin();
    await etcd.restore(snapshot);
    const order = first === 'survivor' ? [one, three, two] : [three, two, one];
    for (const each of order) await each.take(30);
    const newcomer = new Minter(open());
    await newcomer.begin();
    expect(allRepeats([...order, forgotten, newcomer])).toEqual(NO_REPEATS);
    for (const each of order) {
      const count = each === three ? 30 : 55;
      expect([each.numbers.length, each.invoices.length]).toEqual([count * 20, count]);
    }
    const warnings = order.flatMap(({ store }) => store.warnings?.() ?? []);
    for (const name of ['orders', 'series:invoices::'])
      expect(warnings).toContainEqual(expect.stringMatching(`has lost acknowledged writes.*"${name}"`));
  });

  it('lets a holder go on whose record is there, and nobody else', async () => {
    const store = open();
    const { lineage } = await store.moment!('orders');
    const birth: LeaseRecord = { id: -1, owner: 'b', epoch: 0, fence: 1, expiresAt: 0, label: lineage! };
    const held: LeaseRecord = { id: 0, owner: 'a', epoch: 1, fence: 1000, expiresAt: 2000, label: '' };
    expect(await store.swapLease('orders', undefined, birth)).toBe(true);
    expect(await store.claimLease!('orders', undefined, held, birth)).toBe(true);
    await etcd.restore(await etcd.snapshot());
    expect(await store.swapLease('orders', held, { ...held, fence: 1500 })).toBe(true);
    expect(await store.claimLease!('orders', undefined, { ...held, id: 1 }, birth)).toBe(false);
    expect(await open().claimLease!('orders', undefined, { ...held, id: 1 }, birth)).toBe(false);
    const told = await store.moment!('orders');
    expect(told.lineage).not.toBe(lineage);
    expect((await open().moment!('orders')).lineage).toBe(told.lineage);
    expect(await store.namespaces!()).toEqual(['orders']);
  });

  it('makes newcomers wait until forgotten windows have ended', async () => {
    const options = { namespace: 'orders', size: 4, ttl: 20_000, maxSkew: 2000 };
    const other = await acquireLease(open(), { ...options, namespace: 'other' });
    const snapshot = await etcd.snapshot();
    const lost = await acquireLease(open(), { ...options, reacquire: false });
    await etcd.restore(snapshot);
    const waiting = acquireLease(open(), { ...options, waitFor: 1 });
    await expect(waiting).rejects.toThrow(/can be used at/);
    const [own] = (await open().listLeases('orders')).filter(({ id }) => id === -1);
    // The store's record has the first lineage, and so the namespace is not new.
    expect(own!.fence).toBeGreaterThanOrEqual(lost.until);
    await Promise.allSettled([other.release(), lost.release()]);
  });

  it('has the same lineage after it was killed and started again', async () => {
    const store = open();
    const before = await store.moment!('orders');
    await store.defineSequence({ name: 'orders' });
    const ids = await take(store, 5);
    await etcd.nodes[0]!.kill();
    await etcd.nodes[0]!.start();
    expect((await open().moment!('orders')).lineage).toBe(before.lineage);
    expect((await store.moment!('orders')).lineage).toBe(before.lineage);
    expect((await take(store, 1))[0]).toBe(ids.at(-1)! + 1n);
  });
});
