import { acquireLease, FlakeGenerator, layouts, memoryStore } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { meanwhile, named, setUp, TTL } from './set-up.ts';

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
    const { time, lease } = setUp();
    // Rivals may have to wait for a moment.
    await meanwhile(time, Promise.all([lease(), lease(), lease()]));
    await expect(lease()).rejects.toThrow(named('LEASES_EXHAUSTED'));
    await expect(lease()).rejects.toThrow('no node id available in namespace "test": all 3 are held');
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
    const { until } = held;
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
    expect(fresh.from).toBeGreaterThanOrEqual(until);
    expect(old.length).toBeGreaterThan(50);
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
