import { StoreError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { bindLease } from '../../src/lease/window.ts';
import { eventsOf, meanwhile, setUp, TTL } from './set-up.ts';

describe('the end of a window', () => {
  it('is told when a renewal is due, though the timer of the window is late', async () => {
    const { time, store, lease } = setUp();
    const clock = time.clock();
    const held = await lease({ clock });
    const seen = eventsOf(held);
    store.now = () => new Promise(() => {});
    clock.offset = 2 * TTL;
    await time.advance(0.45 * TTL);
    expect(seen).toEqual(['fenced']);
  });

  it('is told when a renewal has failed', async () => {
    const { time, store, lease } = setUp();
    const clock = time.clock();
    const held = await lease({ clock });
    const seen = eventsOf(held);
    store.now = () => new Promise(() => {});
    await time.advance(0.45 * TTL);
    clock.offset = 2 * TTL;
    while (seen.length === 0) await time.advance(10);
    expect(seen).toEqual(['renewal-failed', 'fenced']);
  });
});

describe('a replacement', () => {
  it('that waits is not disturbed by the renewal of the old window', async () => {
    const { time, lease } = setUp();
    const held = await lease({ size: 1 });
    const seen = eventsOf(held);
    held.fence();
    await time.advance(1.2 * TTL);
    expect(seen).toEqual(['fenced', 'reacquired']);
  });

  it('that fails after another fence() tells nobody', async () => {
    const { time, store, inner, lease } = setUp();
    const held = await lease();
    const seen = eventsOf(held);
    let fail = (_: Error) => {};
    store.listLeases = () =>
      new Promise((_, reject) => {
        fail = reject;
      });
    held.fence();
    await time.advance(10);
    store.listLeases = inner.listLeases;
    held.fence();
    await time.advance(10);
    fail(new StoreError('away'));
    await time.advance(10);
    expect(seen).toEqual(['fenced', 'reacquired']);
  });
});

describe('a release', () => {
  it('tells nothing of a layout that could not be written', async () => {
    const { time, store, inner, lease } = setUp();
    const held = await lease();
    const seen = eventsOf(held);
    let fail = (_: Error) => {};
    store.swapLease = (...question) =>
      question[2].id >= 0
        ? inner.swapLease(...question)
        : new Promise((_, reject) => {
            fail = reject;
          });
    held[bindLease]({ nodes: 8, layout: 'a', move: () => {}, close: () => -1 });
    await time.advance(10);
    const released = held.release();
    fail(new StoreError('away'));
    await released;
    expect(seen).toEqual(['released']);
  });

  it('has freed a node id whose last renewal was not answered', async () => {
    const { time, store, inner, lease } = setUp();
    const held = await lease();
    let isCut = true;
    store.swapLease = async (...question) => {
      if (question[2].owner === null) await new Promise<void>((resolve) => time.after(10, resolve));
      const isDone = await inner.swapLease(...question);
      if (isCut) throw new StoreError('cut off');
      return isDone;
    };
    await time.advance(TTL / 2);
    isCut = false;
    const atEnd = held.release().then(() => inner.listLeases('test'));
    expect(await meanwhile(time, atEnd)).toMatchObject([{ id: 0, owner: null }]);
  });
});
