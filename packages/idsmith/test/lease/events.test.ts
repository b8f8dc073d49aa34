import { StoreError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { bindLease } from '../../src/lease/window.ts';
import { eventsOf, meanwhile, named, ONE_RENEWAL, setUp, TTL } from './set-up.ts';

describe('listeners of a lease', () => {
  it('added with on() hear every event, and those added with once() the next one', async () => {
    const { time, lease } = setUp();
    const held = await lease();
    const heard: string[] = [];
    held.on('renewed', () => heard.push('on')).once('renewed', () => heard.push('once'));
    await time.advance(TTL);
    expect(heard.slice(0, 3)).toEqual(['on', 'once', 'on']);
    expect(heard.filter((each) => each === 'once')).toHaveLength(1);
  });

  it('removed with off() hear nothing, whichever way they were added', async () => {
    const { time, lease } = setUp();
    const held = await lease();
    const heard: string[] = [];
    const listener = () => heard.push('removed');
    held.on('renewed', listener).once('renewed', listener).once('fenced', listener);
    held.off('renewed', listener).off('renewed', listener).off('fenced', listener);
    held.on('renewed', () => heard.push('kept'));
    await time.advance(ONE_RENEWAL);
    held.fence();
    expect(heard).toEqual(['kept']);
  });

  it('get the error of a renewal that failed, and nothing with other events', async () => {
    const { time, state, lease } = setUp();
    const held = await lease();
    const details: unknown[][] = [];
    held.once('renewal-failed', (...detail) => details.push(detail));
    held.once('fenced', (...detail) => details.push(detail));
    state.down = true;
    await time.advance(2 * TTL);
    expect(details).toEqual([[expect.any(StoreError)], []]);
  });

  it('of an unknown event are refused with the nearest name', async () => {
    const held = await setUp().lease();
    for (const method of ['on', 'once', 'off'] as const) {
      expect(() => held[method]('renewd' as never, () => {})).toThrow('did you mean "renewed"?');
      expect(() => held[method]('renewd' as never, () => {})).toThrow(named('INVALID_OPTION'));
    }
  });
});

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
