import { ClockError, systemClock } from 'idsmith';
import { FakeClock } from 'idsmith/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { wholeMs } from '../src/clock.ts';

afterEach(() => {
  vi.useRealTimers();
});

describe('the system clock', () => {
  it('gives Unix milliseconds', () => {
    const before = Date.now();
    const now = systemClock.now();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
  });

  it('follows fake timers', () => {
    vi.useFakeTimers({ now: 1234 });
    expect(systemClock.now()).toBe(1234);
  });
});

describe('a fake clock', () => {
  it('stands still, moves on and moves back', () => {
    const clock = new FakeClock(100);
    expect([clock.now(), clock.now()]).toEqual([100, 100]);
    clock.advance(5);
    expect(clock.now()).toBe(105);
    clock.advance(-10);
    expect(clock.now()).toBe(95);
  });
});

describe('a reading', () => {
  it('is cut to whole milliseconds', () => {
    expect(wholeMs(0)).toBe(0);
    expect(wholeMs(1.999)).toBe(1);
    expect(wholeMs(Number.MAX_SAFE_INTEGER)).toBe(Number.MAX_SAFE_INTEGER);
  });

  it.each([Number.NaN, -1, -0.5, Number.POSITIVE_INFINITY, 2 ** 53, undefined, '12', 12n])(
    'of %s is refused',
    (reading) => {
      expect(() => wholeMs(reading as number)).toThrow(ClockError);
    },
  );
});
