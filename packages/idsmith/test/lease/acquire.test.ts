import {
  acquireLease,
  FlakeGenerator,
  type LeaseRecord,
  type LeaseStore,
  layouts,
  memoryStore,
} from 'idsmith';
import { describe, expect, it } from 'vitest';
import { layoutRecord } from '../../src/lease/protocol.ts';
import { meanwhile, named, setUp, TTL } from './set-up.ts';

describe('acquiring', () => {
  it('takes the lowest id that was never used, for a ttl', async () => {
    const { time, lease } = setUp();
    const [a, b] = [await lease(), await lease()];
    expect([a.id, b.id]).toEqual([0, 1]);
    expect(a).toMatchObject({ namespace: 'test', term: 1, until: time.now + TTL, state: 'active' });
    expect(a.from).toBeLessThanOrEqual(time.now);
  });

  it('prefers an id that was released or has expired', async () => {
    const { lease } = setUp();
    const [a, b] = [await lease({ reacquire: false }), await lease()];
    await b.release();
    expect(await lease()).toMatchObject({ id: 1, term: 2 });
    await a.release();
    expect(await lease()).toMatchObject({ id: 0, term: 2 });
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
    expect(acquired).toMatchObject({ id: 0, term: 5 });
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
    await expect(lease({ ttl: 30_000 })).rejects.toThrow(named('INVALID_OPTION'));
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

const free = (id: number, fence: number): LeaseRecord => ({
  id,
  owner: null,
  epoch: 1,
  fence,
  expiresAt: 0,
  label: '',
});

/** A world that counts the questions to its store. `onClaim` is called for each claim of a node id, and true refuses the claim. */
function counted(
  traits: Partial<LeaseStore>,
  onClaim: (id: number) => boolean | Promise<boolean> = () => false,
) {
  const world = setUp(traits);
  const { time, store, inner } = world;
  const clock = time.clock();
  const counts = { now: 0, list: 0, swap: 0 };
  store.now = async () => {
    counts.now++;
    // The store's clock goes with that of the caller.
    return clock.now();
  };
  store.listLeases = (namespace) => {
    counts.list++;
    return inner.listLeases(namespace);
  };
  store.swapLease = async (...question) => {
    counts.swap++;
    const { id, owner } = question[2];
    const isRefused = id >= 0 && owner !== null && (await onClaim(id));
    return !isRefused && inner.swapLease(...question);
  };
  const lease = (options: object) => world.lease({ clock, ...options });
  return { ...world, clock, counts, lease };
}

describe('an acquisition that is aborted', () => {
  it('before it begins asks the store nothing', async () => {
    const { lease, counts } = counted({});
    const signal = AbortSignal.abort(new Error('gone'));
    await expect(lease({ signal })).rejects.toThrow('gone');
    expect(counts).toEqual({ now: 0, list: 0, swap: 0 });
  });

  it('while it prepares the namespace asks the store nothing more', async () => {
    const { store, inner, lease, counts } = counted({ durable: false });
    const controller = new AbortController();
    store.swapLease = (...question) => {
      controller.abort(new Error('gone'));
      return inner.swapLease(...question);
    };
    await expect(lease({ signal: controller.signal })).rejects.toThrow('gone');
    expect(counts).toMatchObject({ now: 1, list: 1 });
  });
});

describe('an acquisition that has lost a race', () => {
  it('tries the best node id and any other one, and from then on any one alone', async () => {
    const claims: number[] = [];
    const { time, lease } = counted({}, (id) => claims.push(id) < 3);
    const last = { fill: (bytes: Uint8Array) => void bytes.fill(255) };
    const held = await meanwhile(time, lease({ size: 3, random: last }));
    expect(claims).toEqual([0, 2, 2]);
    expect(held.id).toBe(2);
  });

  it.each([
    [0, 1],
    [TTL / 4, 1],
    [TTL / 4 + 1, 2],
  ])('%s ms after it has read the time has read it %s times', async (age, times) => {
    let isRefused = false;
    const { time, clock, counts, lease } = counted({}, () => {
      if (isRefused) return false;
      isRefused = true;
      clock.offset = age;
      return true;
    });
    await meanwhile(time, lease({ size: 1 }));
    expect(counts).toMatchObject({ now: times, list: 2 });
  });

  it('reads the time again after it has waited', async () => {
    let isRefused = false;
    const { time, inner, counts, lease } = counted({}, async () => {
      if (isRefused) return false;
      isRefused = true;
      await inner.swapLease('test', undefined, free(0, time.now + 5000));
      return true;
    });
    const begin = time.now;
    await meanwhile(time, lease({ size: 1, maxSkew: 0 }));
    expect(counts).toMatchObject({ now: 2, list: 3 });
    expect(time.now - begin).toBeLessThan(6000);
  });
});

describe('an acquisition', () => {
  it('reads the time for each step in a new namespace of a store that can forget', async () => {
    const { time, counts, lease } = counted({ durable: false });
    const acquiring = lease({ size: 1 });
    await time.advance(0);
    // The namespace gets a record, and the record a date. Then the wait begins.
    expect(counts).toEqual({ now: 3, list: 3, swap: 2 });
    await (await meanwhile(time, acquiring)).release();
  });

  it('reads the time once for all pages of a large namespace', async () => {
    const { time, store, inner, counts, lease } = counted({ pageSize: 1 });
    const pages: number[] = [];
    store.readLeases = async (namespace, first, count) => {
      pages.push(first);
      return (await inner.readLeases?.(namespace, first, count)) ?? [];
    };
    const until = time.now + TTL;
    for (let id = 0; id < 17; id++)
      await inner.swapLease('test', undefined, { ...free(id, until), owner: 'x', expiresAt: until });
    await expect(lease({ size: 17 })).rejects.toThrow('all 17 are held');
    expect(pages).toHaveLength(4);
    expect(counts).toMatchObject({ now: 1, list: 1 });
  });
});

describe('a namespace in a store that can forget', () => {
  it('is given up when the store refuses its record again and again', async () => {
    let refused = 0;
    const { time, lease } = setUp({
      durable: false,
      swapLease: async () => {
        refused++;
        return false;
      },
    });
    const outcome = meanwhile(time, lease(), 20_000);
    await expect(outcome).rejects.toThrow('refused them 12 times');
    expect(refused).toBe(12);
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

describe('an acquisition that fails', () => {
  it('has freed its node id, if the namespace has got another layout', async () => {
    const { time, lease, owners } = slowToFree(({ inner }) =>
      inner.swapLease('test', undefined, layoutRecord('b')),
    );
    const atEnd = lease({ layout: { nodes: 3, fingerprint: 'a' } }).catch(owners);
    expect(await meanwhile(time, atEnd)).toEqual([null]);
  });

  it('has freed its node id, if it was aborted', async () => {
    const controller = new AbortController();
    const { time, lease, owners } = slowToFree(() => controller.abort(new Error('gone')));
    const atEnd = lease({ signal: controller.signal }).catch(owners);
    expect(await meanwhile(time, atEnd)).toEqual([null]);
  });

  it('waits for a fence as long as a window may be, and tells when it could go on', async () => {
    for (const [ahead, isDone] of [
      [TTL, true],
      [TTL + 1, false],
    ] as const) {
      const { time, inner, lease } = setUp();
      await inner.swapLease('test', undefined, free(0, time.now + ahead));
      const outcome = meanwhile(time, lease({ size: 1 }));
      if (isDone) expect((await outcome).id).toBe(0);
      else await expect(outcome).rejects.toThrow('the first of 1 can be used at');
    }
  });

  it('waits as long as a namespace needs that the store has lost', async () => {
    const longest = TTL + 1000 + 60_000 + 2 * 10_000;
    for (const [ahead, isDone] of [
      [longest, true],
      [longest + 1, false],
    ] as const) {
      const { time, inner, lease } = setUp({ durable: false });
      const birth = { ...free(-1, time.now + ahead), owner: 'x', epoch: 60_000 };
      await inner.swapLease('test', undefined, birth);
      const outcome = meanwhile(time, lease());
      if (isDone) expect((await outcome).id).toBe(0);
      else await expect(outcome).rejects.toThrow('later than waitFor');
    }
  });

  it('pauses after the second refusal', async () => {
    let refused = 0;
    const { time, lease } = setUp({
      durable: false,
      swapLease: async () => {
        refused++;
        return false;
      },
    });
    void lease().catch(() => undefined);
    await time.advance(0);
    expect(refused).toBe(2);
  });
});
