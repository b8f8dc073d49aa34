import { FlakeGenerator, type LeaseRecord, StoreError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { eventsOf, ONE_RENEWAL, setUp, TTL } from './set-up.ts';

/** A question to the store that is answered when the test says so. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** A lease whose renewal is on its way: it asks the time, or has sent the swap and waits for the answer. */
async function renewing(at: 'now' | 'swapLease') {
  const world = setUp();
  const { time, store, inner, lease } = world;
  const held = await lease({ reacquire: false });
  const { opened, open } = gate();
  const sent: LeaseRecord[] = [];
  store.now = async () => {
    if (at === 'now') await opened;
    return time.now;
  };
  store.swapLease = async (...args) => {
    sent.push(args[2]);
    const isDone = await inner.swapLease(...args);
    if (at === 'swapLease' && args[2].owner !== null) await opened;
    return isDone;
  };
  const seen = eventsOf(held);
  await time.advance(ONE_RENEWAL);
  return { ...world, held, open, sent, seen };
}

describe('a renewal that is answered late', () => {
  it('is not sent any more when the window was ended meanwhile', async () => {
    const { time, held, open, sent } = await renewing('now');
    held.fence();
    open();
    await time.advance(10);
    expect(sent.filter(({ owner }) => owner !== null)).toEqual([]);
    expect(held.state).toBe('fenced');
  });

  it('is not sent any more when the lease was released meanwhile', async () => {
    const { time, held, open, sent } = await renewing('now');
    const released = held.release();
    open();
    await time.advance(10);
    await released;
    expect(sent.map(({ owner }) => owner)).toEqual([null]);
  });

  it('opens no window that was ended meanwhile, and tells nobody', async () => {
    const { time, held, open, seen, sent } = await renewing('swapLease');
    const generator = new FlakeGenerator({ node: held, clock: time.clock() });
    expect(sent).toHaveLength(1);
    held.fence();
    open();
    await time.advance(10);
    expect(() => generator.next()).toThrow();
    expect(seen).toEqual(['fenced']);
    expect(held.until).toBe(held.from);
  });

  it('is not told after the release, which frees the record that it has left', async () => {
    const { time, store, held, open, seen } = await renewing('swapLease');
    const released = held.release();
    open();
    await time.advance(10);
    await released;
    expect(seen).toEqual(['released']);
    expect((await store.listLeases('test'))[0]).toMatchObject({ owner: null, fence: held.from });
  });
});

describe('a release', () => {
  it('leaves the record of a new holder alone', async () => {
    const { time, store, inner, state, lease } = setUp();
    const held = await lease({ reacquire: false });
    state.down = true;
    await time.advance(TTL);
    state.down = false;
    const [mine] = (await store.listLeases('test')) as [LeaseRecord];
    const theirs = { ...mine, owner: 'new', epoch: mine.epoch + 1, fence: mine.fence + TTL };
    await inner.swapLease('test', mine, theirs);
    await held.release();
    expect(await store.listLeases('test')).toEqual([theirs]);
  });

  it('leaves the fence where it is after the window was ended for a copy, though its own record still stands', async () => {
    const { time, store, inner, lease } = setUp();
    const held = await lease({ reacquire: false });
    const before = await store.listLeases('test');
    store.swapLease = async () => {
      throw new StoreError('cut off');
    };
    held.fence();
    await time.advance(10);
    store.swapLease = inner.swapLease.bind(inner);
    await held.release();
    expect(await store.listLeases('test')).toEqual(before);
  });

  it('sends nothing more, however much time passes', async () => {
    const { time, store, held } = await (async () => {
      const world = setUp();
      return { ...world, held: await world.lease() };
    })();
    await held.release();
    const calls: string[] = [];
    store.now = async () => {
      calls.push('now');
      return time.now;
    };
    const seen = eventsOf(held);
    await time.advance(3 * TTL);
    expect([calls, seen]).toEqual([[], []]);
  });
});
