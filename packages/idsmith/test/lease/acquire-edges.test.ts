import type { LeaseRecord, LeaseStore } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { meanwhile, setUp, TTL } from './set-up.ts';

const free = (id: number, fence: number): LeaseRecord => ({
  ...{ id, owner: null, epoch: 1, fence, expiresAt: 0, label: '' },
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
