import { expect, it } from 'vitest';
import type { LeaseJson } from '../../src/api/types.ts';
import { countStates, oddityOf, viewsOf } from '../../src/lib/lease-state.ts';
import { withWindows } from '../../src/lib/lease-windows.ts';
import { held, NOW } from '../support/lease-records.ts';

it.each<[Partial<LeaseJson>, string | undefined]>([
  [{}, undefined],
  [{ fence: 0, expiresAt: 0, epoch: 0, label: '' }, undefined],
  [{ fence: Number.MAX_SAFE_INTEGER }, 'its fence 9007199254740991 is not a time before the year 10000'],
  [{ fence: -1 }, 'its fence -1 is not a time before the year 10000'],
  [{ fence: Number.NaN }, 'its fence NaN is not a time before the year 10000'],
  [{ expiresAt: 8.64e15 }, 'its expiry 8640000000000000 is not a time before the year 10000'],
  [{ epoch: 1.5 }, 'its number of holders 1.5 is not a whole number'],
  [{ label: null as unknown as string }, 'its label is not text'],
])('finds what is odd in %j', (changes, reason) => {
  expect(oddityOf({ ...held(3), ...changes })).toBe(reason);
});

it('is a state of its own, and leaves the other node ids as they are', () => {
  const records = [held(0), { ...held(1), fence: Number.MAX_SAFE_INTEGER }];
  expect(viewsOf(records, NOW, 0, 3).map(({ state }) => state)).toEqual(['held', 'odd', 'free']);
  expect(countStates(records, NOW, 3)).toEqual({ free: 1, held: 1, expired: 0, fenced: 0, odd: 1 });
  expect([...withWindows(undefined, records, NOW).values()].map(({ id }) => id)).toEqual([0]);
});
