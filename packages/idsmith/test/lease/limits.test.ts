import {
  acquireLease,
  FlakeGenerator,
  type LeaseOptions,
  type LeaseRecord,
  type LeaseStore,
  memoryStore,
} from 'idsmith';
import { FakeTime } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';
import { longestTtl, rememberLimit, requireTtl } from '../../src/lease/namespace-store.ts';
import type { LeaseSettings } from '../../src/lease/options.ts';
import { undatedBirth } from '../../src/lease/protocol.ts';
import { repeated } from '../support/unique.ts';
import { meanwhile, named } from './set-up.ts';

describe('clients with different limits on a store that can forget', () => {
  /** Two clients of one store, the second of which allows less. */
  function twoClients() {
    const time = new FakeTime();
    let inner = memoryStore();
    const client = (maxTtl: number): LeaseStore => ({
      durable: false,
      maxTtl,
      now: async () => time.now,
      listLeases: (namespace) => inner.listLeases(namespace),
      swapLease: (...args) => inner.swapLease(...args),
    });
    const stores = { before: client(120_000), after: client(20_000) };
    const lease = (store: LeaseStore, options: Partial<LeaseOptions> = {}) =>
      acquireLease(store, {
        namespace: 'n',
        size: 1,
        timer: time,
        clock: time.clock(),
        maxSkew: 1000,
        reacquire: false,
        ...options,
      });
    const lose = () => {
      inner = memoryStore();
    };
    return { time, lease, lose, ...stores };
  }

  it('wait for the longer one when the store has lost what they shared', async () => {
    const { time, lease, lose, before, after } = twoClients();
    const old = await meanwhile(time, lease(before, { ttl: 120_000 }));
    await expect(lease(after, { ttl: 20_000 })).rejects.toThrow(named('LEASES_EXHAUSTED'));
    const clock = time.clock();
    const ids = new FlakeGenerator({ node: old, clock });
    const minted = ids.batch(1000);
    const { until } = old;
    lose();
    const fresh = await meanwhile(time, lease(after, { ttl: 20_000 }));
    expect(fresh.from).toBeGreaterThanOrEqual(until);
    const others = new FlakeGenerator({ node: fresh, clock });
    expect(repeated([...minted, ...others.batch(1000)])).toEqual([]);
  });

  it('wait for the longer one though they saw it only before their own failure', async () => {
    const { time, lease, lose, before, after } = twoClients();
    const { until } = await meanwhile(time, lease(before, { ttl: 120_000 }));
    const wrong = time.clock(60_000);
    await expect(lease(after, { ttl: 20_000, clock: wrong })).rejects.toThrow(named('CLOCK'));
    lose();
    const fresh = await meanwhile(time, lease(after, { ttl: 20_000 }));
    expect(fresh.from).toBeGreaterThanOrEqual(until);
  });

  it('may not hold longer than the founder of the namespace allowed', async () => {
    const { time, lease, before, after } = twoClients();
    await meanwhile(
      time,
      lease(after, { ttl: 20_000 }).then((held) => held.release()),
    );
    await expect(lease(before, { ttl: 60_000 })).rejects.toThrow(named('INVALID_OPTION'));
    await expect(lease(before, { ttl: 60_000 })).rejects.toThrow('ttl must be at most 20000');
    expect((await meanwhile(time, lease(before, { ttl: 20_000 }))).id).toBe(0);
  });
});

describe('a namespace of a version that did not write its limit', () => {
  it('counts with the default limit when it is founded again', async () => {
    const time = new FakeTime();
    let inner = memoryStore();
    const store: LeaseStore = {
      durable: false,
      maxTtl: 5000,
      now: async () => time.now,
      listLeases: (namespace) => inner.listLeases(namespace),
      swapLease: (...args) => inner.swapLease(...args),
    };
    const birth = { id: -1, owner: 'old', epoch: 0, fence: time.now, expiresAt: 0, label: 'namespace' };
    await inner.swapLease('n', undefined, birth);
    const options = { namespace: 'n', size: 1, ttl: 5000, maxSkew: 0, timer: time, clock: time.clock() };
    await (await meanwhile(time, acquireLease(store, options))).release();
    inner = memoryStore();
    const lost = time.now;
    expect((await meanwhile(time, acquireLease(store, options))).from).toBeGreaterThanOrEqual(lost + 60_000);
  });
});

describe('the longest ttl of a namespace', () => {
  const known = (store: LeaseStore, namespace = 'a', maxTtl = 1000) =>
    ({ store, namespace, maxTtl }) as LeaseSettings;
  const birth = (epoch: number, fence = 5): LeaseRecord => ({ ...undatedBirth('x'), epoch, fence });

  it('is the highest that was seen, in this store and namespace', () => {
    const store = memoryStore();
    rememberLimit(known(store), undefined);
    rememberLimit(known(store), birth(99_000, undatedBirth('x').fence));
    expect(longestTtl(known(store))).toBe(1000);
    rememberLimit(known(store), birth(90_000));
    rememberLimit(known(store), birth(70_000));
    expect(longestTtl(known(store))).toBe(90_000);
    expect(longestTtl(known(store, 'a', 95_000))).toBe(95_000);
    expect(longestTtl(known(store, 'b'))).toBe(1000);
    expect(longestTtl(known(memoryStore()))).toBe(1000);
    rememberLimit(known(store, 'b'), birth(80_000));
    expect([longestTtl(known(store)), longestTtl(known(store, 'b'))]).toEqual([90_000, 80_000]);
  });

  it('is the default where the record has none', () => {
    const store = memoryStore();
    rememberLimit(known(store), birth(0));
    expect(longestTtl(known(store))).toBe(60_000);
  });

  it('is kept to', () => {
    const require = (ttl: number, epoch: number) =>
      requireTtl({ namespace: 'a', ttl, maxTtl: 3000 } as LeaseSettings, birth(epoch));
    for (const [ttl, epoch] of [
      [2000, 2000],
      [3000, 0],
      [1, 1],
    ] as const)
      expect(() => require(ttl, epoch)).not.toThrow();
    for (const [ttl, epoch] of [
      [2001, 2000],
      [3001, 0],
      [2, 1],
    ] as const)
      expect(() => require(ttl, epoch)).toThrow(`at most ${epoch || 3000}`);
  });
});
