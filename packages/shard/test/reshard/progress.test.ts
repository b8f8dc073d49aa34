import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ReshardContext } from '../../src/reshard/context.ts';
import type { ReshardProgress } from '../../src/reshard/options.ts';
import { ProgressTracker } from '../../src/reshard/progress.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  vi.advanceTimersByTime(10_000);
});
afterEach(() => {
  vi.useRealTimers();
});

describe('Progress', () => {
  const map = (...names: string[]) => ({ nodes: names.map((name) => ({ name, address: `${name}:1` })) });
  const context = { from: map('a', 'b'), to: map('b', 'c') } as unknown as ReshardContext;
  const sorted = (staying: number, leavingCount: number, skipped: string[] = []) => ({
    staying,
    leavingCount,
    leaving: new Map(),
    skipped: skipped.map((key) => ({ key })),
  });

  it('tells what was moved, how quickly, and what is left', () => {
    const told: ReshardProgress[] = [];
    const progress = new ProgressTracker(context, (one) => told.push(one));
    progress.expect(60);
    progress.expect(40);
    progress.moved('a:1', 'c:1', { keys: 0, bytes: 0, superseded: 0 });
    vi.advanceTimersByTime(1000);
    progress.scanned(sorted(5, 14, ['x']));
    progress.moved('a:1', 'c:1', { keys: 10, bytes: 700, superseded: 1 });
    vi.advanceTimersByTime(2000);
    progress.moved('b:1', 'c:1', { keys: 5, bytes: 40, superseded: 2 });
    vi.advanceTimersByTime(1);
    progress.moved('a:1', 'c:1', { keys: 3, bytes: 3, superseded: 0 });
    progress.scanned(sorted(100, 0));
    progress.moved('a:1', 'b:1', { keys: 0, bytes: 0, superseded: 0 });
    const [begun, first, second, third, last] = told;
    expect(begun).toEqual({
      moved: 0,
      bytes: 0,
      scanned: 0,
      total: 100,
      seconds: 0,
      rate: 0,
      left: undefined,
    });
    // 5 stay, 1 is skipped and 10 have moved: 84 are left after 16 in a second.
    expect(first).toEqual({
      moved: 10,
      bytes: 700,
      scanned: 20,
      total: 100,
      seconds: 1,
      rate: 10,
      left: 5.25,
    });
    // Over the last three seconds: the first time is just old enough to count.
    expect(second).toMatchObject({ moved: 15, bytes: 740, rate: 5, seconds: 3 });
    expect(third!.rate).toBeCloseTo((8 / 2001) * 1000, 9);
    expect(last).toMatchObject({ scanned: 120, total: 120, left: 0 });
    expect(progress.totals()).toEqual({
      pairs: [
        { from: 'a', to: 'c', keys: 13, bytes: 703 },
        { from: 'b', to: 'c', keys: 5, bytes: 40 },
      ],
      moved: 18,
      bytes: 743,
      stayed: 105,
      skipped: 1,
      skippedKeys: ['x'],
      unknownTypes: {},
      superseded: 3,
      seconds: 3.001,
    });
  });

  it('has a rate over the last three seconds, or since the time before if that is longer', () => {
    const rates: number[] = [];
    const progress = new ProgressTracker(context, ({ rate }) => rates.push(rate));
    for (const [wait, keys] of [
      [0, 0],
      [4000, 8],
      [1000, 5],
    ] as const) {
      vi.advanceTimersByTime(wait);
      progress.moved('a:1', 'c:1', { keys, bytes: 0, superseded: 0 });
    }
    expect(rates).toEqual([0, 2, 5]);
  });

  it('counts keys that were found and have not moved yet as left', () => {
    const left: (number | undefined)[] = [];
    const progress = new ProgressTracker(context, (one) => left.push(one.left));
    progress.expect(100);
    progress.scanned(sorted(0, 100));
    vi.advanceTimersByTime(1000);
    progress.moved('a:1', 'c:1', { keys: 25, bytes: 0, superseded: 0 });
    vi.advanceTimersByTime(3000);
    progress.moved('a:1', 'c:1', { keys: 75, bytes: 0, superseded: 0 });
    expect(left).toEqual([3, 0]);
  });

  it('tells what is left as soon as a key was looked at and some time has passed', () => {
    const left: (number | undefined)[] = [];
    const progress = new ProgressTracker(context, (one) => left.push(one.left));
    const tell = () => progress.moved('a:1', 'c:1', { keys: 0, bytes: 0, superseded: 0 });
    progress.expect(11);
    vi.advanceTimersByTime(2000);
    tell();
    progress.scanned(sorted(1, 0));
    tell();
    const fresh = new ProgressTracker(context, (one) => left.push(one.left));
    fresh.expect(11);
    fresh.scanned(sorted(1, 0));
    fresh.moved('a:1', 'c:1', { keys: 0, bytes: 0, superseded: 0 });
    expect(left).toEqual([undefined, 20, undefined]);
  });

  it('is counted also if nobody listens', () => {
    const progress = new ProgressTracker(context, undefined);
    progress.moved('a:1', 'c:1', { keys: 1, bytes: 2, superseded: 0 });
    expect(progress.totals()).toMatchObject({ moved: 1, bytes: 2 });
  });
});
