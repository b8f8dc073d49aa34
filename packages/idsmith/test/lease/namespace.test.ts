import {
  acquireLease,
  ClockError,
  defineLayout,
  FlakeGenerator,
  type LeaseOptions,
  type LeaseStore,
  layouts,
  memoryStore,
} from 'idsmith';
import { FakeTime } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';
import { requireBelievable } from '../../src/lease/namespace-store.ts';
import type { LeaseSettings } from '../../src/lease/options.ts';
import { layoutRecord } from '../../src/lease/protocol.ts';
import { requireRoom } from '../../src/lease/window.ts';
import { eventsOf, meanwhile, named, ONE_RENEWAL, setUp, TTL } from './set-up.ts';

const EPOCH = Date.UTC(2024, 0, 1);
const wide = defineLayout({ epoch: EPOCH, timeBits: 41, nodeBits: 9, sequenceBits: 13 });
const narrow = defineLayout({ epoch: EPOCH, timeBits: 41, nodeBits: 10, sequenceBits: 12 });

describe('the size of a lease', () => {
  it.each([
    ['jflake', 1024],
    ['safe53', 512],
    ['safe53', 33],
  ] as const)('is refused by a generator of layout %s when it is %d', async (name, size) => {
    const { time, lease } = setUp();
    const held = await lease({ size });
    const options = { node: held, layout: layouts[name], clock: time.clock() };
    expect(() => new FlakeGenerator(options)).toThrow(named('INVALID_OPTION'));
    expect(() => new FlakeGenerator(options)).toThrow(`size ${layouts[name].nodes} at most`);
    expect(held.size).toBe(size);
  });

  it('comes from the layout unless it is given, and fits it', async () => {
    const { lease } = setUp();
    const held = await acquireLease(memoryStore(), { namespace: 'test', layout: layouts.safe53 });
    expect(held.size).toBe(32);
    await held.release();
    await expect(lease({ layout: layouts.safe53, size: 33 })).rejects.toThrow(named('INVALID_OPTION'));
    await expect(acquireLease(memoryStore(), { namespace: 'test' })).rejects.toThrow(named('INVALID_OPTION'));
  });

  it('leaves the lease to another generator when one refused it', async () => {
    const { time, lease } = setUp();
    const held = await lease({ size: 512 });
    expect(() => new FlakeGenerator({ node: held, layout: layouts.safe53 })).toThrow(named('INVALID_OPTION'));
    expect(new FlakeGenerator({ node: held, clock: time.clock() }).next()).toBeGreaterThan(0n);
  });
});

describe('rows that are deleted under a holder', () => {
  it('end its window at once, and it goes on with another', async () => {
    const { time, inner, lease } = setUp();
    const clock = time.clock();
    const held = await lease({ size: 2 });
    const seen = eventsOf(held);
    const generator = new FlakeGenerator({ node: held, clock });
    generator.next();
    const emptied = memoryStore();
    inner.listLeases = emptied.listLeases;
    inner.swapLease = emptied.swapLease;
    const thief = await lease({ size: 2 });
    expect(thief.id).toBe(0);
    await time.advance(ONE_RENEWAL);
    expect(seen).toEqual(['fenced', 'reacquired']);
    expect(held.id).toBe(1);
    expect(() => generator.next()).not.toThrow();
  });

  it('end its window at once, though nobody else has the node id yet', async () => {
    const { time, inner, lease } = setUp();
    const held = await lease({ size: 2, reacquire: false });
    const seen = eventsOf(held);
    const generator = new FlakeGenerator({ node: held, clock: time.clock() });
    generator.next();
    inner.listLeases = async () => [];
    inner.swapLease = async () => false;
    await time.advance(TTL / 2);
    expect(seen).toEqual(['fenced', 'renewal-failed']);
    expect(() => generator.next()).toThrow(named('LEASE_FENCED'));
  });
});

describe('a clock that the store cannot check', () => {
  const years = (count: number) => count * 366 * 86_400_000;

  it.each([50, 2])('is refused when it is %d years ahead of everything in the namespace', async (count) => {
    const time = new FakeTime();
    const store = memoryStore();
    const lease = (offset: number) =>
      acquireLease(store, { namespace: 'n', size: 4, timer: time, clock: time.clock(offset) });
    await lease(0);
    await expect(lease(years(count))).rejects.toThrow(named('CLOCK'));
    expect((await store.listLeases('n')).map(({ id }) => id)).toEqual([0]);
  });

  it('is refused at a renewal, too', async () => {
    const time = new FakeTime();
    const store = memoryStore();
    const clock = time.clock();
    const held = await acquireLease(store, { namespace: 'n', size: 4, timer: time, clock });
    const failures: unknown[] = [];
    held.on('renewal-failed', (error) => failures.push(error));
    const { until } = held;
    clock.offset = years(50);
    await time.advance(TTL);
    expect(failures[0]).toEqual(named('CLOCK'));
    expect((await store.listLeases('n'))[0]?.fence).toBe(until);
  });

  it('is believed when the namespace may have been idle so long', async () => {
    const time = new FakeTime();
    const store = memoryStore();
    const lease = (options: Partial<LeaseOptions>) =>
      acquireLease(store, { namespace: 'n', size: 4, timer: time, clock: time.clock(), ...options });
    await (await lease({})).release();
    await time.advance(years(3));
    await expect(lease({})).rejects.toThrow(/raise maxIdle/);
    expect((await lease({ maxIdle: years(5) })).id).toBe(0);
  });
});

describe('a store whose listing is incomplete', () => {
  it('is not asked for ever', async () => {
    const time = new FakeTime();
    let calls = 0;
    const store: LeaseStore = {
      listLeases: async () => [],
      swapLease: async () => {
        calls++;
        return false;
      },
    };
    const acquiring = acquireLease(store, { namespace: 'n', size: 2, timer: time, clock: time.clock() });
    await expect(meanwhile(time, acquiring)).rejects.toThrow(named('STORE'));
    await expect(acquiring).rejects.toThrow('its listing may be incomplete');
    expect(calls).toBeLessThan(50);
  });
});

describe('the event fenced', () => {
  it('is heard when a process wakes after its window, before it is renewed', async () => {
    const { time, lease } = setUp();
    // While the process is stopped no timer fires; afterwards all that are due do.
    const waiting: (() => void)[] = [];
    let stopped = false;
    const timer = {
      after: (ms: number, fn: () => void) => time.after(ms, () => (stopped ? waiting.push(fn) : fn())),
    };
    const held = await lease({ timer });
    const seen = eventsOf(held);
    stopped = true;
    await time.advance(5 * TTL);
    expect(held.state).toBe('fenced');
    stopped = false;
    for (const fn of waiting.splice(0)) fn();
    await time.advance(1);
    expect(seen).toEqual(['fenced', 'renewed']);
  });

  it('is heard when the process was stopped between asking and being answered', async () => {
    const { time, store, lease } = setUp();
    let answer = () => {};
    const held = await lease();
    const seen = eventsOf(held);
    const { swapLease } = store;
    store.swapLease = async (...args) => {
      const done = await swapLease(...args);
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return done;
    };
    await time.advance(ONE_RENEWAL);
    time.now += 2 * TTL;
    answer();
    await time.advance(0);
    expect(seen.slice(0, 2)).toEqual(['fenced', 'renewed']);
  });

  it('is heard at the end of the window, however long the store takes to answer', async () => {
    const { time, store, lease } = setUp();
    const held = await lease();
    const told: number[] = [];
    held.on('fenced', () => told.push(time.now));
    const { until } = held;
    store.now = () => new Promise(() => {});
    await time.advance(3 * TTL);
    expect(told).toEqual([until]);
  });
});

describe('a listener that releases the lease', () => {
  it.each(['reacquired', 'empty-namespace'] as const)('in %s leaves nothing behind', async (event) => {
    const { time, inner, lease } = setUp();
    const held = await lease();
    held.on(event, () => void held.release());
    await time.advance(1);
    if (held.state === 'released') return expect(event).toBe('empty-namespace');
    const emptied = memoryStore();
    inner.listLeases = emptied.listLeases;
    inner.swapLease = emptied.swapLease;
    await time.advance(2 * TTL);
    expect(held.state).toBe('released');
    expect((await emptied.listLeases('test')).filter(({ owner }) => owner !== null)).toEqual([]);
  });

  it('in empty-namespace, during a replacement, leaves nothing behind', async () => {
    const { time, inner, lease } = setUp();
    const held = await lease();
    await time.advance(1);
    held.on('empty-namespace', () => void held.release());
    const emptied = memoryStore();
    inner.listLeases = emptied.listLeases;
    inner.swapLease = emptied.swapLease;
    await time.advance(2 * TTL);
    expect(held.state).toBe('released');
    expect((await emptied.listLeases('test')).map(({ owner }) => owner)).toEqual([null]);
  });
});

describe('misspelt names', () => {
  it('of options are refused', async () => {
    const { lease } = setUp();
    await expect(lease({ tll: 5 } as never)).rejects.toThrow('unknown name "tll"; did you mean "ttl"?');
  });

  it('of events are refused', async () => {
    const { lease } = setUp();
    const held = await lease();
    expect(() => held.on('fence' as never, () => {})).toThrow('did you mean "fenced"?');
    expect(() => held.on('fence' as never, () => {})).toThrow(named('INVALID_OPTION'));
  });
});

describe('null', () => {
  it.each(['ttl', 'maxSkew', 'maxIdle', 'waitFor', 'size', 'label', 'layout', 'reacquire', 'clock', 'timer'])(
    'is no value of the option %s',
    async (name) => {
      const { lease } = setUp();
      await expect(lease({ layout: layouts.safe53, [name]: null })).rejects.toThrow(named('INVALID_OPTION'));
    },
  );
});

describe('an acquisition that fails', () => {
  it('leaves no layout behind in the namespace', async () => {
    const { time, store, lease } = setUp();
    await meanwhile(time, Promise.all([lease(), lease(), lease()]));
    await expect(lease({ layout: narrow })).rejects.toThrow(named('LEASES_EXHAUSTED'));
    expect((await store.listLeases('test')).map(({ id }) => id).sort()).toEqual([0, 1, 2]);
  });

  it('leaves its node id free when another layout was faster', async () => {
    const { store, inner, lease } = setUp();
    store.swapLease = async (namespace, expected, next) => {
      // Somebody else writes a layout just before this claim.
      if (next.id >= 0) await inner.swapLease(namespace, undefined, layoutRecord(wide.fingerprint));
      return inner.swapLease(namespace, expected, next);
    };
    await expect(lease({ layout: narrow })).rejects.toThrow(named('INVALID_OPTION'));
    expect((await store.listLeases('test')).find(({ id }) => id === 0)).toMatchObject({ owner: null });
  });
});

describe('a generator', () => {
  it('has room for as many node ids as the lease may get', () => {
    const room = (size: number) => () =>
      requireRoom({ namespace: 'a', first: 0, size }, { nodes: 8 } as never);
    expect(room(8)).not.toThrow();
    expect(room(9)).toThrow('room for 8 node ids');
  });
});

const NOW = 1_000_000;

describe('a clock', () => {
  const check = (now: number, newest: number, store: object = {}) =>
    requireBelievable({ store, maxIdle: 1000 } as LeaseSettings, now, newest);

  it('is believed up to maxIdle after everything in the namespace', () => {
    expect(() => check(NOW + 1000, NOW)).not.toThrow();
    expect(() => check(NOW + 1001, NOW)).toThrow(ClockError);
    expect(() => check(NOW, -Infinity)).not.toThrow();
  });

  it('is believed where the store has a clock of its own to compare', () => {
    const now = async () => 0;
    expect(() => check(NOW + 1001, NOW, { now })).not.toThrow();
    expect(() => check(NOW + 1001, NOW, { now, hostClock: false })).not.toThrow();
    expect(() => check(NOW + 1001, NOW, { now, hostClock: true })).toThrow(ClockError);
  });

  it('is shown as a date, or as a number that is none', () => {
    expect(() => check(Date.UTC(2026, 0, 1), 0)).toThrow('2026-01-01T00:00:00.000Z');
    expect(() => check(8.64e15, 0)).toThrow('+275760-09-13T00:00:00.000Z');
    expect(() => check(8.64e15 + 1, 0)).toThrow('8640000000000001');
    expect(() => check(Number.POSITIVE_INFINITY, 0)).toThrow('Infinity');
  });
});
