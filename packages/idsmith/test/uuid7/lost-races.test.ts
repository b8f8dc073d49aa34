import { Uuid7Generator } from 'idsmith';
import { FakeClock } from 'idsmith/testing';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { beforeExchange } from '../support/interrupt-atomics.ts';
import { notIncreasing, timeOf } from './set-up.ts';

const NOW = Date.UTC(2026, 0, 2);

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Two threads that share a generator, each with a clock of its own. */
function twoThreads() {
  const clocks = [new FakeClock(NOW), new FakeClock(NOW)] as const;
  const slow = new Uuid7Generator({ clock: clocks[0] });
  const fast = Uuid7Generator.attach(slow.share(), { clock: clocks[1] });
  return { slow, fast, clocks };
}

describe('a thread that another one overtakes', () => {
  // The first exchange notes the highest reading of the clock, the second one claims the place of the ids.
  it.each([
    { nth: 1, slowAhead: 5, fastAhead: 3 },
    { nth: 1, slowAhead: 3, fastAhead: 5 },
    { nth: 2, slowAhead: 5, fastAhead: 3 },
    { nth: 2, slowAhead: 5, fastAhead: 5 },
    { nth: 2, slowAhead: 3, fastAhead: 5 },
  ])('makes a larger id, and no id twice: %o', ({ nth, slowAhead, fastAhead }) => {
    const { slow, fast, clocks } = twoThreads();
    const ids = [slow.next()];
    clocks[0].time += slowAhead;
    clocks[1].time += fastAhead;
    const hasHappened = beforeExchange(nth, () => ids.push(fast.next()));
    ids.push(slow.next());
    expect(hasHappened()).toBe(true);
    ids.push(fast.next(), slow.next());
    expect(notIncreasing(ids)).toEqual([]);
    expect(timeOf(ids.at(-1) as string)).toBe(NOW + 5);
  });
});

describe('a runtime without shared memory', () => {
  it('refuses share(), and the generator goes on', () => {
    const generator = new Uuid7Generator({ clock: new FakeClock(NOW) });
    const before = generator.next();
    vi.stubGlobal('SharedArrayBuffer', undefined);
    expect(() => generator.share()).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }));
    expect(notIncreasing([before, generator.next()])).toEqual([]);
  });
});
