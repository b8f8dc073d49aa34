import type { LeaseRecord } from 'idsmith';
import { StoreError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { layoutRecord } from '../../src/lease/protocol.ts';
import { eventsOf, meanwhile, setUp, TTL } from './set-up.ts';

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

const free = (id: number, fence: number): LeaseRecord => ({
  ...{ id, owner: null, epoch: 1, fence, expiresAt: 0, label: '' },
});

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

describe('an acquisition in a large namespace', () => {
  it('begins with the lowest page again after it has waited', async () => {
    const { time, store, inner, lease } = setUp({ pageSize: 1 });
    for (let id = 0; id < 17; id++) await inner.swapLease('test', undefined, free(id, time.now + 5000));
    const pages: (number | string)[] = [];
    store.listLeases = (namespace) => {
      pages.push('all');
      return inner.listLeases(namespace);
    };
    store.readLeases = async (namespace, first, count) => {
      pages.push(first);
      return (await inner.readLeases?.(namespace, first, count)) ?? [];
    };
    const held = await meanwhile(time, lease({ size: 17 }));
    expect(held.id).toBe(0);
    expect([pages.slice(0, 2), pages.slice(4)]).toEqual([
      [0, 1],
      ['all', 0],
    ]);
  });

  it('reads nothing more for its layout, if nobody else claims at the same time', async () => {
    let reads = 0;
    const { lease } = setUp({
      readLeases: async () => {
        reads++;
        return [];
      },
    });
    await lease({ layout: { nodes: 3, fingerprint: 'a' } });
    expect(reads).toBe(0);
  });
});

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
