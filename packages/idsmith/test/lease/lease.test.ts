import {
  acquireLease,
  FlakeGenerator,
  type Lease,
  type LeaseRecord,
  type LeaseStore,
  layouts,
  memoryStore,
  StoreError,
} from 'idsmith';
import { FakeTime } from 'idsmith/testing';
import { describe, expect, it } from 'vitest';

const named = (code: string) => expect.objectContaining({ code });
const TTL = 30_000;

/** A store whose answers can be made to fail, with the time that it and its holders live in. */
function setUp(overrides: Partial<LeaseStore> = {}) {
  const time = new FakeTime();
  const inner = memoryStore();
  const state = { down: false };
  const guarded =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A) => {
      if (state.down) throw new StoreError('down');
      return call(...args);
    };
  const store: LeaseStore = {
    now: guarded(async () => time.now),
    listLeases: guarded((namespace: string) => inner.listLeases(namespace)),
    swapLease: guarded((namespace: string, expected: LeaseRecord | undefined, next: LeaseRecord) =>
      inner.swapLease(namespace, expected, next),
    ),
    ...overrides,
  };
  const lease = (options: Partial<Parameters<typeof acquireLease>[1]> = {}) =>
    acquireLease(store, { namespace: 'test', size: 3, timer: time, clock: time.clock(), ...options });
  return { time, store, inner, state, lease };
}

/** Lets time pass until a promise that needs it is done. */
async function meanwhile<T>(time: FakeTime, promise: Promise<T>, limit = 300_000): Promise<T> {
  let done = false;
  const marked = promise.finally(() => {
    done = true;
  });
  marked.catch(() => undefined);
  for (let passed = 0; !done && passed < limit; passed += 100) await time.advance(100);
  return marked;
}

function eventsOf(lease: Lease): string[] {
  const seen: string[] = [];
  for (const event of ['renewed', 'renewal-failed', 'fenced', 'reacquired', 'released'] as const) {
    lease.on(event, () => seen.push(event));
  }
  return seen;
}

describe('acquiring', () => {
  it('takes the lowest id that was never used, for a ttl', async () => {
    const { time, lease } = setUp();
    const [a, b] = [await lease(), await lease()];
    expect([a.id, b.id]).toEqual([0, 1]);
    expect(a).toMatchObject({ namespace: 'test', epoch: 1, until: time.now + TTL, state: 'active' });
    expect(a.from).toBeLessThanOrEqual(time.now);
  });

  it('prefers an id that was released or has expired', async () => {
    const { lease } = setUp();
    const [a, b] = [await lease({ reacquire: false }), await lease()];
    await b.release();
    expect(await lease()).toMatchObject({ id: 1, epoch: 2 });
    await a.release();
    expect(await lease()).toMatchObject({ id: 0, epoch: 2 });
  });

  it('fails at once when all are held', async () => {
    const { lease } = setUp();
    await Promise.all([lease(), lease(), lease()]);
    await expect(lease()).rejects.toThrow(named('LEASES_EXHAUSTED'));
    await expect(lease()).rejects.toThrow('no node id of namespace "test" is to be had: all 3 are held');
  });

  it('starts a new window where the last one ended, however short it was', async () => {
    const { time, store, lease } = setUp();
    const first = await lease();
    const generator = new FlakeGenerator({ node: first, clock: time.clock() });
    const last = layouts.jflake.decode(generator.next()).timestamp;
    await first.release();
    const [record] = await store.listLeases('test');
    expect(record).toMatchObject({ owner: null, fence: last + 1, expiresAt: 0 });
    const second = await meanwhile(time, lease());
    expect(second.id).toBe(0);
    expect(second.from).toBeGreaterThan(last);
    const next = new FlakeGenerator({ node: second, clock: time.clock() });
    expect(layouts.jflake.decode(next.next()).timestamp).toBeGreaterThan(last);
  });

  it('waits for an id that is free but whose fence lies ahead, as long as it may', async () => {
    const { time, store, lease } = setUp();
    const free = { owner: null, epoch: 4, expiresAt: 0, label: '' };
    for (const id of [0, 1, 2])
      await store.swapLease('test', undefined, { ...free, id, fence: time.now + 6000 + id });
    await expect(lease({ waitFor: 5999 })).rejects.toThrow(named('LEASES_EXHAUSTED'));
    const started = time.now;
    const acquired = await meanwhile(time, lease({ waitFor: 6000 }));
    expect(acquired).toMatchObject({ id: 0, epoch: 5 });
    expect(acquired.from).toBe(started + 6000);
  });

  it('refuses a clock that differs too much from the store, both ways, and tolerates less', async () => {
    const { time, lease } = setUp();
    for (const offset of [-10_001, 10_001, 3_600_000, -3_600_000]) {
      await expect(lease({ clock: time.clock(offset) })).rejects.toThrow(named('CLOCK'));
    }
    expect((await lease({ clock: time.clock(10_000) })).id).toBe(0);
    const behind = await meanwhile(time, lease({ clock: time.clock(-10_000) }));
    expect(behind.id).toBe(1);
  });

  it('gives 64 who start at once an id each, and the 65th none', async () => {
    const { time, lease } = setUp();
    const options = { namespace: 'many', size: 64 };
    const leases = await meanwhile(time, Promise.all(Array.from({ length: 64 }, () => lease(options))));
    expect(new Set(leases.map(({ id }) => id)).size).toBe(64);
    await expect(lease(options)).rejects.toThrow(named('LEASES_EXHAUSTED'));
  });
});

describe('an empty namespace', () => {
  it('is told to who listens to the new lease, and only then', async () => {
    const { time, lease } = setUp();
    const told: string[] = [];
    (await lease()).on('empty-namespace', () => told.push('first'));
    (await lease()).on('empty-namespace', () => told.push('second'));
    await time.advance(1);
    expect(told).toEqual(['first']);
  });
});

describe('renewal', () => {
  it('comes at about a third of the ttl and moves the end of the window on', async () => {
    const { time, lease } = setUp();
    const held = await lease();
    const seen = eventsOf(held);
    const { until } = held;
    await time.advance(TTL / 5);
    expect(seen).toEqual([]);
    await time.advance(TTL / 5);
    expect(seen).toEqual(['renewed']);
    expect(held.until).toBeGreaterThan(until);
    await time.advance(20 * TTL);
    expect(held).toMatchObject({ state: 'active', id: 0, epoch: 1 });
  });

  it('does not come for all who started together at the same moment', async () => {
    const { time, lease } = setUp();
    const times: number[] = [];
    for (let i = 0; i < 3; i++) (await lease()).on('renewed', () => times.push(time.now));
    await time.advance(TTL / 2);
    expect(new Set(times).size).toBe(3);
  });

  it('goes on when the store was down for a while', async () => {
    const { time, state, lease } = setUp();
    const held = await lease();
    const seen = eventsOf(held);
    state.down = true;
    await time.advance(TTL / 2);
    expect(held.state).toBe('active');
    state.down = false;
    await time.advance(TTL / 3);
    expect(seen).toContain('renewal-failed');
    expect(seen.at(-1)).toBe('renewed');
  });

  it('is refused while the clock differs too much from the store', async () => {
    const { time, lease } = setUp();
    const clock = time.clock();
    const held = await lease({ clock });
    const failures: unknown[] = [];
    held.on('renewal-failed', (error) => failures.push(error));
    clock.offset = -20_000;
    await time.advance(TTL);
    expect(failures[0]).toEqual(named('CLOCK'));
  });

  it('goes on though the clock was out of order for a while', async () => {
    const { time, lease } = setUp();
    const clock = time.clock();
    const held = await lease({ clock });
    const seen = eventsOf(held);
    clock.offset = Number.NaN;
    await time.advance(TTL / 2);
    expect(held.state).toBe('fenced');
    clock.offset = 0;
    await time.advance(TTL / 2);
    expect(seen).toContain('renewal-failed');
    expect(seen.at(-1)).toBe('renewed');
  });

  it('learns of its own success when the answer was lost', async () => {
    const { time, store, inner, lease } = setUp();
    let lose = false;
    store.swapLease = async (...args) => {
      const done = await inner.swapLease(...args);
      if (lose) throw new StoreError('cut off');
      return done;
    };
    const held = await lease();
    const seen = eventsOf(held);
    lose = true;
    await time.advance(TTL / 2);
    expect(seen).toContain('renewal-failed');
    lose = false;
    await time.advance(TTL / 3);
    expect(seen.at(-1)).toBe('renewed');
    expect((await store.listLeases('test'))[0]).toMatchObject({ epoch: 1, fence: held.until });
  });

  it('gives up on a store that never answers, and tries again', async () => {
    const { time, store, lease } = setUp();
    const held = await lease();
    const failures: unknown[] = [];
    held.on('renewal-failed', (error) => failures.push(error));
    store.now = () => new Promise(() => {});
    await time.advance(2 * TTL);
    expect(failures.length).toBeGreaterThan(1);
    expect(failures[0]).toEqual(named('STORE'));
    expect(held.state).toBe('fenced');
  });
});

describe('a holder that lost its store', () => {
  it('mints until the end of its window, then throws, then recovers by itself', async () => {
    const { time, state, lease } = setUp();
    const held = await lease();
    const seen = eventsOf(held);
    const generator = new FlakeGenerator({ node: held, clock: time.clock() });
    generator.next();
    state.down = true;
    await time.advance(held.until - time.now - 1);
    expect(layouts.jflake.decode(generator.next()).timestamp).toBe(held.until - 1);
    await time.advance(1);
    expect(() => generator.next()).toThrow(named('LEASE_FENCED'));
    await time.advance(TTL);
    expect(() => generator.batch(5)).toThrow(named('LEASE_FENCED'));
    expect(seen.filter((event) => event === 'fenced')).toHaveLength(1);
    expect(held.state).toBe('fenced');
    state.down = false;
    await time.advance(TTL);
    expect(held.state).toBe('active');
    expect(layouts.jflake.decode(generator.next()).node).toBe(0);
  });

  it('never mints past its end, though it slept through it', async () => {
    const { time, lease } = setUp();
    // A process that is stopped fires no timer; it still has its generator.
    const asleep = { after: () => () => {} };
    const held = await lease({ timer: asleep });
    const generator = new FlakeGenerator({ node: held, clock: time.clock() });
    generator.next();
    await time.advance(10 * TTL);
    expect(() => generator.next()).toThrow(named('LEASE_FENCED'));
  });
});

describe('a lease that somebody else took over', () => {
  it('is replaced in the background, and ids go on increasing with the new node id', async () => {
    const { time, store, lease } = setUp();
    const held = await lease();
    const seen = eventsOf(held);
    const generator = new FlakeGenerator({ node: held, clock: time.clock() });
    const before = generator.next();
    const [record] = await store.listLeases('test');
    await store.swapLease('test', record, { ...(record as LeaseRecord), owner: 'thief', epoch: 2 });
    await time.advance(TTL / 2);
    expect(seen).toEqual(['reacquired']);
    expect(held).toMatchObject({ id: 1, epoch: 1, state: 'active' });
    const after = generator.next();
    expect(after).toBeGreaterThan(before);
    expect(layouts.jflake.decode(after).node).toBe(1);
  });

  it('stays lost when that is what was asked for', async () => {
    const { time, store, lease } = setUp();
    const held = await lease({ reacquire: false });
    const seen = eventsOf(held);
    const generator = new FlakeGenerator({ node: held, clock: time.clock() });
    const [record] = await store.listLeases('test');
    await store.swapLease('test', record, { ...(record as LeaseRecord), owner: 'thief', epoch: 2 });
    await time.advance(TTL / 2);
    expect(() => generator.next()).not.toThrow();
    await time.advance(10 * TTL);
    expect(() => generator.next()).toThrow(named('LEASE_FENCED'));
    expect(held.state).toBe('fenced');
    expect(seen).toEqual(['fenced']);
  });

  it('does not use ticks below its new window when it gets the same node id back', async () => {
    const { time, store, lease } = setUp();
    const clock = time.clock();
    const held = await lease({ size: 1, clock });
    const generator = new FlakeGenerator({ node: held, clock });
    generator.next();
    const [record] = await store.listLeases('test');
    // Another holder has used the node id, and left it.
    const left = { ...(record as LeaseRecord), owner: null, epoch: 2, fence: time.now + TTL, expiresAt: 0 };
    await store.swapLease('test', record, left);
    await time.advance(3 * TTL);
    expect(held).toMatchObject({ id: 0, epoch: 3 });
    clock.offset = held.from - 3000 - time.now;
    expect(layouts.jflake.decode(generator.next()).timestamp).toBeGreaterThanOrEqual(held.from);
  });
});

describe('release', () => {
  it('ends minting at once, and is done once', async () => {
    const { time, store, lease } = setUp();
    const held = await lease();
    const seen = eventsOf(held);
    const generator = new FlakeGenerator({ node: held, clock: time.clock() });
    generator.next();
    const promise = held.release();
    expect(held.state).toBe('released');
    expect(() => generator.next()).toThrow(named('LEASE_FENCED'));
    await promise;
    await held.release();
    expect(seen).toEqual(['released']);
    await time.advance(10 * TTL);
    expect((await store.listLeases('test'))[0]).toMatchObject({ owner: null, epoch: 1 });
  });

  it('keeps the fence at its own beginning when nothing was minted', async () => {
    const { store, lease } = setUp();
    const held = await lease();
    await held.release();
    expect((await store.listLeases('test'))[0]?.fence).toBe(held.from);
  });

  it('finds the record that a renewal has moved on without telling', async () => {
    const { time, store, inner, lease } = setUp();
    let lose = false;
    store.swapLease = async (...args) => {
      const done = await inner.swapLease(...args);
      if (lose) throw new StoreError('cut off');
      return done;
    };
    const held = await lease();
    lose = true;
    await time.advance(TTL / 2);
    lose = false;
    await held.release();
    expect((await store.listLeases('test'))[0]).toMatchObject({ owner: null, fence: held.from });
  });

  it('ends minting in threads too', async () => {
    const { time, lease } = setUp();
    const held = await lease();
    const generator = new FlakeGenerator({ node: held, clock: time.clock() });
    const attached = FlakeGenerator.attach(generator.share(), { clock: time.clock() });
    attached.next();
    await held.release();
    expect(() => attached.next()).toThrow(named('LEASE_FENCED'));
  });

  it('fails with the store, and minting has ended all the same', async () => {
    const { time, state, lease } = setUp();
    const held = await lease();
    const generator = new FlakeGenerator({ node: held, clock: time.clock() });
    state.down = true;
    await expect(held.release()).rejects.toThrow(named('STORE'));
    expect(() => generator.next()).toThrow(named('LEASE_FENCED'));
  });
});

describe('a window that begins within a tick', () => {
  it('is used from the next tick on', async () => {
    const { time, store } = setUp();
    const fence = layouts.sonyflake.timeOf(layouts.sonyflake.tickOf(time.now)) + 3;
    await store.swapLease('ticks', undefined, {
      id: 0,
      owner: null,
      epoch: 1,
      fence,
      expiresAt: 0,
      label: '',
    });
    const clock = time.clock(fence - time.now);
    const held = await acquireLease(store, { namespace: 'ticks', size: 1, timer: time, clock, maxSkew: 10 });
    expect(held.from).toBe(fence);
    const generator = new FlakeGenerator({ node: held, clock, layout: layouts.sonyflake });
    expect(layouts.sonyflake.decode(generator.next()).timestamp).toBe(fence + 7);
  });
});

describe('a lease in threads', () => {
  it('takes its window along, and each change of it', async () => {
    const { time, store, lease } = setUp();
    const held = await lease();
    const generator = new FlakeGenerator({ node: held, clock: time.clock() });
    const attached = FlakeGenerator.attach(generator.share(), { clock: time.clock() });
    const first = attached.next();
    await time.advance(TTL + 1000);
    const second = attached.next();
    const [record] = await store.listLeases('test');
    await store.swapLease('test', record, { ...(record as LeaseRecord), owner: 'thief', epoch: 2 });
    await time.advance(TTL);
    const third = attached.next();
    expect([first, second, third].map((id) => layouts.jflake.decode(id).node)).toEqual([0, 0, 1]);
    expect(first < second && second < third).toBe(true);
  });
});

describe('a store that can forget', () => {
  it('starts the windows of an empty namespace when all from before have run out', async () => {
    const { time, lease } = setUp({ durable: false, maxTtl: 40_000 });
    const start = time.now;
    const first = await meanwhile(time, lease());
    expect(first.from).toBeGreaterThanOrEqual(start + 40_000 + 10_000);
    const again = time.now;
    const second = await meanwhile(time, lease());
    expect(second.from).toBeLessThanOrEqual(again);
  });

  it('keeps a holder from before and a new one apart', async () => {
    const { time, inner, lease } = setUp({ durable: false, maxTtl: TTL });
    const held = await meanwhile(time, lease({ size: 1, reacquire: false }));
    const clock = time.clock();
    const generator = new FlakeGenerator({ node: held, clock });
    const old: bigint[] = [];
    // The store comes back empty: the very object forgets.
    const forgotten = memoryStore();
    inner.listLeases = forgotten.listLeases;
    inner.swapLease = forgotten.swapLease;
    const acquiring = lease({ size: 1 });
    for (let i = 0; i < TTL / 100 + 1; i++) {
      await time.advance(100);
      if (held.state === 'active') old.push(generator.next());
    }
    expect(held.state).toBe('fenced');
    const fresh = await meanwhile(time, acquiring);
    expect(fresh.from).toBeGreaterThanOrEqual(held.until);
    expect(old.length).toBeGreaterThan(100);
  });

  it('refuses a longer ttl', async () => {
    const { lease } = setUp({ durable: false, maxTtl: 20_000 });
    await expect(lease()).rejects.toThrow(named('INVALID_OPTION'));
  });
});

describe('wrong use', () => {
  it('of one lease for two generators is refused', async () => {
    const { time, lease } = setUp();
    const held = await lease();
    new FlakeGenerator({ node: held, clock: time.clock() });
    expect(() => new FlakeGenerator({ node: held, clock: time.clock() })).toThrow(named('INVALID_OPTION'));
  });

  it('of a node id that does not fit the layout is refused', async () => {
    const { store, time } = setUp();
    const held = { id: 0, owner: 'x', epoch: 1, fence: 0, expiresAt: Number.MAX_SAFE_INTEGER, label: '' };
    for (let id = 0; id < 32; id++) await store.swapLease('wide', undefined, { ...held, id });
    const lease = await acquireLease(store, {
      namespace: 'wide',
      size: 64,
      timer: time,
      clock: time.clock(),
    });
    expect(() => new FlakeGenerator({ node: lease, layout: layouts.safe53 })).toThrow(
      named('INVALID_OPTION'),
    );
  });

  it.each([
    [{ namespace: '' }],
    [{ namespace: 'x'.repeat(256) }],
    [{ namespace: 'a\0b' }],
    [{ namespace: 5 }],
    [{ size: 0 }],
    [{ size: 1.5 }],
    [{ ttl: 0 }],
    [{ ttl: Number.NaN }],
    [{ maxSkew: -1 }],
    [{ waitFor: -1 }],
    [{ label: 5 }],
    [{ reacquire: 'yes' }],
    [{ clock: {} }],
  ])('of the option %o is refused', async (wrong) => {
    const { store } = setUp();
    const options = { namespace: 'n', size: 1, ...wrong };
    await expect(acquireLease(store, options as never)).rejects.toThrow(named('INVALID_OPTION'));
  });

  it.each([null, {}, { listLeases: () => [] }])('of %o as a store is refused', async (store) => {
    await expect(acquireLease(store as never, { namespace: 'n', size: 1 })).rejects.toThrow(
      named('INVALID_OPTION'),
    );
  });
});
