import { describe, expect, it } from 'vitest';
import { LeaseTimers } from '../../src/lease/lease-timers.ts';

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
