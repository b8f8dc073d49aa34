import { FlakeGenerator, Lease, type LeaseOptions, type LeaseStore, memoryStore } from 'idsmith';
import { FakeTime } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';
import { acquire } from '../../src/lease/acquire.ts';
import { leaseSettings } from '../../src/lease/options.ts';
import { repeated } from '../support/unique.ts';
import { eventsOf, meanwhile, named, TTL } from './set-up.ts';

/**
 * Copies of one process that holds a lease, as VM snapshots make them: all with the same memory, on one store. Their
 * randomness is the same, too, and so is their clock.
 */
async function copies(count: number, options: Partial<LeaseOptions> = {}) {
  const time = new FakeTime();
  const inner = memoryStore();
  const store: LeaseStore = { ...inner, now: async () => time.now };
  const settings = () =>
    leaseSettings(store, {
      ...{ namespace: 'copied', size: 8, timer: time, clock: time.clock(), random: sameRandom() },
      ...options,
    });
  const acquired = await acquire(settings(), false);
  const leases = Array.from({ length: count }, () => new Lease(settings(), acquired));
  const generators = leases.map((node) => new FlakeGenerator({ node, clock: time.clock() }));
  return { time, store, leases, generators };
}

/** Randomness that every copy has in common. */
function sameRandom() {
  let next = 1;
  return {
    fill(target: Uint8Array) {
      for (let i = 0; i < target.length; i++) {
        next = (next * 75) % 65_537;
        target[i] = next & 0xff;
      }
    },
  };
}

/** Ids that the generators mint, one of each in turn, while time passes. */
async function mint(time: FakeTime, generators: FlakeGenerator[], ms: number): Promise<bigint[]> {
  const ids: bigint[] = [];
  for (let passed = 0; passed < ms; passed += 100) {
    await time.advance(100);
    for (const generator of generators) {
      try {
        ids.push(generator.next());
      } catch (error) {
        expect(error).toEqual(named('LEASE_FENCED'));
      }
    }
  }
  return ids;
}

describe('copies of a process that holds a lease', () => {
  it('go on with different node ids from the first renewal on', async () => {
    const { time, leases, generators } = await copies(3);
    const [a, b, c] = leases as [Lease, Lease, Lease];
    expect([a.id, b.id, c.id]).toEqual([0, 0, 0]);
    await time.advance(TTL / 2);
    expect(new Set([a.id, b.id, c.id]).size).toBe(3);
    const ids = await mint(time, generators, 5 * TTL);
    expect(ids.length).toBeGreaterThan(3 * 1400);
    expect(repeated(ids)).toEqual([]);
  });

  it('stop at once when they find that another renewed, though time is left in their window', async () => {
    const { time, leases, generators } = await copies(2, { reacquire: false });
    const seen = leases.map(eventsOf);
    await time.advance(TTL / 2);
    const states = leases.map(({ state }) => state).sort();
    expect(states).toEqual(['active', 'fenced']);
    expect(seen.flat().sort()).toEqual(['fenced', 'renewed']);
    const loser = leases.findIndex(({ state }) => state === 'fenced');
    expect(() => generators[loser]!.next()).toThrow(named('LEASE_FENCED'));
    expect(() => generators[1 - loser]!.next()).not.toThrow();
  });

  it('do not release the lease that another copy has renewed', async () => {
    const { time, store, leases } = await copies(2, { reacquire: false });
    await time.advance(TTL / 2);
    const loser = leases.find(({ state }) => state === 'fenced')!;
    await loser.release();
    const [record] = await store.listLeases('copied');
    expect(record).toMatchObject({ owner: expect.any(String), epoch: 1 });
  });

  it('never repeat an id when each is fenced as it is restored', async () => {
    const { time, leases, generators } = await copies(3);
    for (const lease of leases) lease.fence();
    for (const generator of generators) expect(() => generator.next()).toThrow(named('LEASE_FENCED'));
    const ids = await mint(time, generators, 3 * TTL);
    expect(ids.length).toBeGreaterThan(2000);
    expect(repeated(ids)).toEqual([]);
  });

  it('do not share what one had asked for when the copy was made', async () => {
    const { time, store, leases, generators } = await copies(2);
    // Both ask for another node id, and are copied before the answer: here, fenced again while it is under way.
    for (const lease of leases) lease.fence();
    await undefined;
    for (const lease of leases) lease.fence();
    const ids = await mint(time, generators, 2 * TTL);
    expect(repeated(ids)).toEqual([]);
    const held = (await store.listLeases('copied')).filter(({ owner }) => owner !== null);
    expect(new Set(held.map(({ id }) => id)).size).toBe(held.length);
  });
});

describe('fence()', () => {
  it('ends the window at once, tells so, and takes another node id', async () => {
    const { time, leases, generators } = await copies(1);
    const [lease] = leases as [Lease];
    const seen = eventsOf(lease);
    const before = generators[0]!.next();
    const { until } = lease;
    lease.fence();
    expect(lease.state).toBe('fenced');
    expect(lease.until).toBeLessThan(until);
    expect(seen).toEqual(['fenced']);
    expect(() => generators[0]!.next()).toThrow(named('LEASE_FENCED'));
    await time.advance(100);
    expect(seen).toEqual(['fenced', 'reacquired']);
    expect(lease).toMatchObject({ id: 1, state: 'active' });
    expect(generators[0]!.next()).toBeGreaterThan(before);
  });

  it('takes one node id for several calls at once', async () => {
    const { time, store, leases } = await copies(1);
    const [lease] = leases as [Lease];
    const seen = eventsOf(lease);
    for (let i = 0; i < 3; i++) lease.fence();
    await time.advance(100);
    expect(seen.filter((event) => event === 'reacquired')).toHaveLength(1);
    expect((await store.listLeases('copied')).filter(({ owner }) => owner !== null)).toHaveLength(1);
    expect(lease.state).toBe('active');
  });

  it('leaves the node id to others, from the end of the window on', async () => {
    const { time, store, leases } = await copies(1, { size: 1 });
    const [lease] = leases as [Lease];
    const { until } = lease;
    lease.fence();
    await time.advance(TTL / 2);
    expect((await store.listLeases('copied'))[0]).toMatchObject({ owner: null, fence: until });
    await meanwhile(time, time.advance(TTL));
    expect(lease.state).toBe('active');
    expect(lease.from).toBeGreaterThanOrEqual(until);
  });

  it('is for good when a lost lease is not to be replaced', async () => {
    const { time, leases, generators } = await copies(1, { reacquire: false });
    leases[0]!.fence();
    await time.advance(10 * TTL);
    expect(leases[0]!.state).toBe('fenced');
    expect(() => generators[0]!.next()).toThrow(named('LEASE_FENCED'));
  });

  it('is refused by a lease that was released', async () => {
    const { leases } = await copies(1);
    await leases[0]!.release();
    expect(() => leases[0]!.fence()).toThrow(named('CLOSED'));
    expect(leases[0]!.state).toBe('released');
  });
});

describe('fence() beside other calls', () => {
  it('drops a node id that was asked for before, because a copy may have it, too', async () => {
    const { time, store, leases } = await copies(1);
    const [lease] = leases as [Lease];
    const seen = eventsOf(lease);
    const { swapLease } = store;
    let answer = () => {};
    store.swapLease = async (...args) => {
      const done = await swapLease(...args);
      // The claim of another node id has succeeded, and its answer is on the way.
      if (args[2].id === 1)
        await new Promise<void>((resolve) => {
          answer = resolve;
        });
      return done;
    };
    lease.fence();
    await time.advance(100);
    lease.fence();
    answer();
    await time.advance(100);
    expect(seen).toEqual(['fenced', 'reacquired']);
    expect(lease).toMatchObject({ id: 2, state: 'active' });
  });

  it('leaves one loop of renewals, though a renewal was under way and failed', async () => {
    const { time, store, leases } = await copies(1);
    const [lease] = leases as [Lease];
    let renewals = 0;
    const { swapLease } = store;
    let fail = true;
    store.swapLease = async (...args) => {
      renewals++;
      if (!fail) return swapLease(...args);
      fail = false;
      await undefined;
      lease.fence();
      throw new Error('cut off');
    };
    await time.advance(20 * TTL);
    // About three in a ttl.
    expect(renewals).toBeLessThan(85);
    expect(lease.state).toBe('active');
  });

  it('lets release() free the node id at once', async () => {
    const { store, leases } = await copies(1, { size: 1 });
    const { until } = leases[0]!;
    leases[0]!.fence();
    await leases[0]!.release();
    expect((await store.listLeases('copied'))[0]).toMatchObject({ owner: null, fence: until, expiresAt: 0 });
  });
});
