import { getEventListeners } from 'node:events';
import { ClockError, type LeaseRecord } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { requireBelievable } from '../../src/lease/acquire.ts';
import { LeaseTimers } from '../../src/lease/lease-timers.ts';
import type { LeaseSettings } from '../../src/lease/options.ts';
import { anyReady, candidates } from '../../src/lease/protocol.ts';
import { LeaseWaiters } from '../../src/lease/waiters.ts';

const NOW = 1_000_000;

/** A timer that notes what is asked of it. */
function notedTimer() {
  const set: { ms: number; fire(): void; background: boolean; isCancelled: boolean }[] = [];
  const after = (ms: number, fire: () => void, background: boolean) => {
    const timer = { ms, fire, background, isCancelled: false };
    set.push(timer);
    return () => {
      timer.isCancelled = true;
    };
  };
  return { set, timer: { after } };
}

describe('the timers of a lease', () => {
  function timersOf(byte = 0) {
    const { set, timer } = notedTimer();
    const random = { fill: (bytes: Uint8Array) => bytes.fill(byte) };
    const lease: { until: number; state: 'active' | 'fenced' } = { until: NOW + 500, state: 'active' };
    const called: string[] = [];
    const timers = new LeaseTimers({ timer, random, clock: { now: () => NOW } } as never, lease, {
      onRenewalDue: () => called.push('renewal'),
      onWindowEnd: () => called.push('end'),
    });
    return { set, lease, called, timers };
  }

  it('come a fifth sooner or later, or as soon as is asked for', () => {
    const { set, timers } = timersOf();
    timers.renewAfter(1000);
    timers.renewAfter(1000, 0.62);
    expect(set.map(({ ms }) => Math.round(ms))).toEqual([800, 620]);
    const late = timersOf(255);
    late.timers.renewAfter(1000);
    expect(Math.round(late.set[0]?.ms ?? 0)).toBe(1200);
  });

  it('are one for the renewal and one for the end of the window, and can be cancelled', () => {
    const { set, timers, called } = timersOf();
    timers.renewAfter(1000);
    timers.watchWindow();
    timers.renewAfter(1000);
    timers.watchWindow();
    expect(set.map(({ isCancelled }) => isCancelled)).toEqual([true, true, false, false]);
    expect(set.every(({ background }) => background)).toBe(true);
    timers.cancelRenewal();
    expect(set.map(({ isCancelled }) => isCancelled)).toEqual([true, true, true, false]);
    timers.cancel();
    expect(set.every(({ isCancelled }) => isCancelled)).toBe(true);
    set[2]?.fire();
    expect(called).toEqual(['renewal']);
  });

  it.each([
    [0, 1],
    [-1, 0],
    [2 ** 31 - 1, 1],
    [2 ** 31, 0],
    [Number.NaN, 0],
  ])('watch a window that ends in %s ms: %s timers', (left, count) => {
    const { set, lease, timers } = timersOf();
    lease.until = NOW + left;
    timers.watchWindow();
    expect(set.map(({ ms }) => ms)).toEqual(count === 0 ? [] : [left]);
  });

  it('look again if the window has not ended yet', () => {
    const { set, lease, called, timers } = timersOf();
    timers.watchWindow();
    set[0]?.fire();
    expect([set.length, called]).toEqual([2, []]);
    lease.state = 'fenced';
    set[1]?.fire();
    expect([set.length, called]).toEqual([2, ['end']]);
  });
});

describe('those who wait for a lease', () => {
  function waitersOf(state: 'active' | 'fenced' | 'released') {
    const { set, timer } = notedTimer();
    const lease = { namespace: 'a', state };
    return { set, lease, waiters: new LeaseWaiters(lease, timer) };
  }
  const settled = async (promise: Promise<void>) => {
    let outcome = 'waits';
    promise.then(
      () => {
        outcome = 'active';
      },
      (error: Error) => {
        outcome = error.message;
      },
    );
    for (let i = 0; i < 10; i++) await undefined;
    return outcome;
  };

  it('need neither timer nor signal if it is active', async () => {
    const { set, waiters } = waitersOf('active');
    const { signal } = new AbortController();
    expect(await settled(waiters.wait({ timeout: 5, signal }, false))).toBe('active');
    expect([set, getEventListeners(signal, 'abort')]).toEqual([[], []]);
    expect(await settled(waiters.wait({ signal: AbortSignal.abort(new Error('gone')) }, false))).toBe('gone');
  });

  it('let go of timer and signal when it becomes active', async () => {
    const { set, lease, waiters } = waitersOf('fenced');
    const { signal } = new AbortController();
    const waiting = waiters.wait({ timeout: 5, signal }, false);
    expect(await settled(waiting)).toBe('waits');
    lease.state = 'active';
    waiters.wake();
    expect(await settled(waiting)).toBe('active');
    expect(set.map(({ ms, isCancelled }) => [ms, isCancelled])).toEqual([[5, true]]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('wait for the next window, even if this one is active, and not if it was released', async () => {
    const { waiters } = waitersOf('active');
    const waiting = waiters.wait({}, true);
    expect(await settled(waiting)).toBe('waits');
    waiters.wake();
    expect(await settled(waiting)).toBe('active');
    expect(await settled(waitersOf('released').waiters.wait({}, true))).toContain('was released');
  });
});

describe('a choice', () => {
  const birth = (fence: number): LeaseRecord => ({
    ...{ id: -1, owner: 'x', epoch: 1, fence, expiresAt: 0, label: '' },
  });

  it('is possible at once where the namespace has no date', () => {
    expect(candidates([], 1, NOW)).toEqual([{ id: 0, record: undefined, readyAt: 0 }]);
    expect(anyReady([], 1, NOW, 0)).toEqual({ id: 0, record: undefined, readyAt: 0 });
  });

  it.each([0, 0.5, 0.99])('is none before the date of the namespace: fraction %s', (fraction) => {
    expect(anyReady([birth(NOW + 1001)], 4, NOW, fraction)).toBeUndefined();
    expect(anyReady([birth(NOW + 1000)], 4, NOW, fraction)).toMatchObject({ readyAt: NOW + 1000 });
  });
});

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
