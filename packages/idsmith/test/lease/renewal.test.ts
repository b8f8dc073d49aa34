import {
  FlakeGenerator,
  type LeaseOptions,
  type LeaseRecord,
  type LeaseStore,
  layouts,
  StoreError,
} from 'idsmith';
import { describe, expect, it } from 'vitest';
import { eventsOf, meanwhile, named, ONE_RENEWAL, setUp, TTL } from './set-up.ts';

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
    expect(held).toMatchObject({ state: 'active', id: 0, term: 1 });
  });

  it('does not come for all who started together at the same moment', async () => {
    const { time, lease } = setUp();
    const times: number[] = [];
    for (let i = 0; i < 3; i++) (await lease()).once('renewed', () => times.push(time.now));
    await time.advance(TTL / 2);
    expect(times).toHaveLength(3);
    // All three in one of 5,800 milliseconds: that does not happen by chance.
    expect(new Set(times).size).toBeGreaterThan(1);
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
  /** A holder whose clock is behind, with a record that another process took over as soon as it had run out. */
  async function takenOver(options: Partial<LeaseOptions> = {}) {
    const world = setUp();
    const { time, state, inner } = world;
    const clock = time.clock(-9000);
    const held = await world.lease({ clock, ...options });
    const generator = new FlakeGenerator({ node: held, clock });
    const before = generator.next();
    state.down = true;
    await time.advance(held.until - time.now);
    const [record] = (await inner.listLeases('test')) as [LeaseRecord];
    const fence = record.fence + TTL;
    await inner.swapLease('test', record, { ...record, owner: 'next', epoch: 2, fence, expiresAt: fence });
    state.down = false;
    return { ...world, held, generator, before, seen: eventsOf(held) };
  }

  it('is replaced in the background, and ids go on increasing with the new node id', async () => {
    const { time, held, generator, before, seen } = await takenOver();
    await time.advance(TTL / 5);
    expect(seen).toEqual(['reacquired']);
    expect(held).toMatchObject({ id: 1, term: 1, state: 'active' });
    const after = generator.next();
    expect(after).toBeGreaterThan(before);
    expect(layouts.jflake.decode(after).node).toBe(1);
  });

  it('stays lost when that is what was asked for', async () => {
    const { time, held, generator, seen } = await takenOver({ reacquire: false });
    await time.advance(TTL / 5);
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
    expect(held).toMatchObject({ id: 0, term: 3 });
    clock.offset = held.from - 3000 - time.now;
    expect(layouts.jflake.decode(generator.next()).timestamp).toBeGreaterThanOrEqual(held.from);
  });
});

/** A question to the store that is answered when the test says so. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe('a store that was replaced', () => {
  it('ends the window at once', async () => {
    const { time, store, lease } = setUp();
    const held = await lease({ reacquire: false });
    const seen = eventsOf(held);
    store.now = async () => {
      throw new StoreError('another file', { reason: 'REPLACED' });
    };
    await time.advance(TTL / 2);
    expect(held.state).toBe('fenced');
    expect(held.until).toBe(held.from);
    expect(seen.slice(0, 2)).toEqual(['fenced', 'renewal-failed']);
  });
});

describe('a store that went back and does not tell', () => {
  /** Puts `before` in the place of the record that the store has now. */
  async function goBack(store: LeaseStore, before: LeaseRecord) {
    const [present] = await store.listLeases('test');
    await store.swapLease('test', present, before);
  }

  it('gets the fence of the record again that it lost, in the older record of the same holder', async () => {
    const { time, store, lease } = setUp();
    const clock = time.clock(9000);
    const held = await lease({ size: 1, reacquire: false, clock });
    const generator = new FlakeGenerator({ node: held, clock });
    const [first] = (await store.listLeases('test')) as [LeaseRecord];
    await time.advance(3 * TTL);
    const last = layouts.jflake.decode(generator.next()).timestamp;
    const { until } = held;
    await goBack(store, first);
    await time.advance(ONE_RENEWAL);
    expect(held.state).toBe('fenced');
    expect((await store.listLeases('test'))[0]).toMatchObject({ owner: null, expiresAt: 0, fence: until });
    const next = await meanwhile(time, lease({ size: 1, waitFor: 2 * TTL }));
    expect(next.from).toBeGreaterThan(last);
  });

  it.each([
    ['a lower fence', -1],
    ['a higher fence', 1],
  ])('stops an earlier holder that goes on with %s, and keeps the highest', async (_, by) => {
    const { time, store, lease } = setUp();
    const earlier = { id: 0, owner: 'earlier', epoch: 1, fence: time.now, expiresAt: time.now, label: '' };
    await store.swapLease('test', undefined, earlier);
    const held = await lease({ size: 1, reacquire: false });
    expect(held.term).toBe(2);
    const { until } = held;
    await goBack(store, { ...earlier, fence: until + by, expiresAt: until + by });
    await time.advance(ONE_RENEWAL);
    expect(held.state).toBe('fenced');
    // The same epoch and no owner: the earlier holder takes its record for broken, and stops.
    const fence = Math.max(until, until + by);
    expect(await store.listLeases('test')).toEqual([{ ...earlier, owner: null, fence, expiresAt: 0 }]);
  });
});

describe('a window that is ended during a renewal', () => {
  it('is replaced once, though its node id has a new holder', async () => {
    const { time, store, inner, lease } = setUp();
    const held = await lease();
    const { opened, open } = gate();
    const [record] = (await inner.listLeases('test')) as [LeaseRecord];
    const { epoch, fence } = record;
    await inner.swapLease('test', record, { ...record, owner: 'new', epoch: epoch + 1, fence: fence + 1 });
    let isAsked = false;
    let claims = 0;
    store.readLeases = async (...question) => {
      isAsked = true;
      await opened;
      return (await inner.readLeases?.(...question)) ?? [];
    };
    store.swapLease = (...question) => {
      if (question[2].owner !== null && question[2].epoch === 1 && question[2].id > 0) claims++;
      return inner.swapLease(...question);
    };
    for (let ms = 0; !isAsked && ms < TTL / 2; ms += 100) await time.advance(100);
    expect(isAsked).toBe(true);
    held.fence();
    open();
    await time.advance(1000);
    expect(claims).toBe(1);
    expect([held.state, held.id]).toEqual(['active', 1]);
  });
});

describe('a renewal', () => {
  it('is what whenMoved() waits for', async () => {
    const { time, lease } = setUp();
    const held = await lease();
    let hasMoved = false;
    void held.whenMoved({}).then(() => {
      hasMoved = true;
    });
    await time.advance(0);
    expect(hasMoved).toBe(false);
    await time.advance(TTL / 2);
    expect(hasMoved).toBe(true);
  });

  it('whose answer was lost is found on its page', async () => {
    const { time, store, inner, lease } = setUp();
    store.readLeases = async (...page) => (await inner.readLeases?.(...page)) ?? [];
    const held = await lease({ reacquire: false });
    const seen = eventsOf(held);
    let isLost = false;
    store.swapLease = async (...question) => {
      const isDone = await inner.swapLease(...question);
      if (isLost) return isDone;
      isLost = true;
      throw new StoreError('cut off');
    };
    await time.advance(TTL - 1000);
    expect(seen.slice(0, 2)).toEqual(['renewal-failed', 'renewed']);
    expect(seen).not.toContain('fenced');
  });

  it('that fails after the release tells nobody', async () => {
    const { time, store, lease } = setUp();
    const held = await lease();
    const seen = eventsOf(held);
    let fail = (_: Error) => {};
    store.now = () =>
      new Promise((_, reject) => {
        fail = reject;
      });
    await time.advance(TTL / 2 - 1000);
    const released = held.release();
    fail(new StoreError('away'));
    await released;
    await time.advance(TTL);
    expect(seen).toEqual(['released']);
  });

  it('that comes late opens the window again, and each end is told when it comes', async () => {
    const { time, state, lease } = setUp();
    const held = await lease();
    const ends: [number, number][] = [];
    held.on('fenced', () => ends.push([time.now, held.until]));
    for (let round = 0; round < 2; round++) {
      state.down = true;
      await time.advance(2 * TTL);
      state.down = false;
      await time.advance(TTL / 2);
      expect(held.state).toBe('active');
    }
    expect(ends).toHaveLength(2);
    for (const [at, until] of ends) expect(at).toBe(until);
  });
});
