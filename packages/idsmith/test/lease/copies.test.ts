import { FlakeGenerator, Lease, type LeaseOptions, type LeaseStore, memoryStore } from 'idsmith';
import { FakeTime } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';
import { acquire } from '../../src/lease/acquire.ts';
import { leaseSettings } from '../../src/lease/options.ts';
import { repeated } from '../support/unique.ts';
import { eventsOf, meanwhile, named, setUp, TTL } from './set-up.ts';

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
      namespace: 'copied',
      size: 8,
      timer: time,
      clock: time.clock(),
      random: sameRandom(),
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

  it('never gives a node id the window of another, though two replacements and a renewal are under way', async () => {
    const { time, store, inner, lease } = setUp();
    const random = { fill: (target: Uint8Array) => void target.fill(0) };
    const held = await lease({ random });
    const { swapLease } = store;
    const answers: (() => void)[] = [];
    const onItsWay = () => new Promise<void>((resolve) => answers.push(resolve));
    let isCut = false;
    store.swapLease = async (namespace, before, next) => {
      if (!isCut) {
        isCut = true;
        // Another process has used node id 1 up to this time.
        const fence = time.now + 900;
        await inner.swapLease(namespace, undefined, {
          id: 1,
          owner: null,
          epoch: 1,
          fence,
          expiresAt: 0,
          label: '',
        });
        held.fence();
        throw new Error('cut off');
      }
      const isDone = await swapLease(namespace, before, next);
      if (next.owner !== null) await onItsWay();
      return isDone;
    };
    while (answers.length < 1) await time.advance(10);
    const fenceOfOthers = time.now + 900;
    // The failed renewal is tried again while the first replacement is on its way, and starts a second one.
    while (answers.length < 2) await time.advance(10);
    answers[0]?.();
    await time.advance(10);
    expect(held).toMatchObject({ id: 1, from: fenceOfOthers });
    while (answers.length < 3) await time.advance(10);
    answers[1]?.();
    await time.advance(10);
    expect(held.id).toBe(2);
    // The renewal of node id 1 has succeeded, and is answered now.
    answers[2]?.();
    await time.advance(10);
    expect(held).toMatchObject({ id: 2, state: 'active' });
  });

  it('lets release() free the node id at once', async () => {
    const { store, leases } = await copies(1, { size: 1 });
    const { until } = leases[0]!;
    leases[0]!.fence();
    await leases[0]!.release();
    expect((await store.listLeases('copied'))[0]).toMatchObject({ owner: null, fence: until, expiresAt: 0 });
  });
});

/** A world whose store takes 10 ms to free a node id. What it does is noted. */
function slowToFree(afterClaim: (world: ReturnType<typeof setUp>) => unknown = () => {}) {
  const world = setUp();
  const { time, store, inner } = world;
  const log: string[] = [];
  store.swapLease = async (...question) => {
    const { id, owner } = question[2];
    if (owner === null && id >= 0) await new Promise<void>((resolve) => time.after(10, resolve));
    const isDone = await inner.swapLease(...question);
    if (id >= 0) log.push(`${owner === null ? 'free' : 'claim'} ${id}: ${isDone}`);
    if (owner !== null && id >= 0) await afterClaim(world);
    return isDone;
  };
  const owners = async () =>
    (await inner.listLeases('test')).filter(({ id }) => id >= 0).map(({ owner }) => owner);
  return { ...world, log, owners };
}

describe('a window that is ended', () => {
  it('is freed once, however often it is ended', async () => {
    const { time, inner, lease, log } = slowToFree();
    const held = await lease();
    held.fence();
    held.fence();
    await time.advance(1000);
    expect(log.filter((line) => line.startsWith('free'))).toEqual(['free 0: true']);
    expect((await inner.listLeases('test')).every(({ id }) => id >= 0)).toBe(true);
  });

  it('is freed before another node id is claimed', async () => {
    const { time, lease, log } = slowToFree();
    const held = await lease();
    held.fence();
    await time.advance(1000);
    expect(log).toEqual(['claim 0: true', 'free 0: true', 'claim 1: true']);
    expect(held.id).toBe(1);
  });

  it('is replaced once, though the replacement has to wait', async () => {
    const { time, lease, log } = slowToFree();
    const held = await lease({ size: 1 });
    held.fence();
    await time.advance(2 * TTL);
    expect(log.filter((line) => line.startsWith('claim'))).toHaveLength(
      log.filter((line) => line === 'claim 0: true').length,
    );
    expect([held.term, held.state]).toEqual([2, 'active']);
  });

  it('is replaced when the store is there again', async () => {
    const { time, state, lease } = setUp();
    const held = await lease();
    const seen = eventsOf(held);
    state.down = true;
    held.fence();
    await time.advance(TTL / 2);
    state.down = false;
    await time.advance(TTL);
    expect(held.state).toBe('active');
    expect([seen[0], seen[1], seen.includes('reacquired')]).toEqual(['fenced', 'renewal-failed', true]);
  });
});
