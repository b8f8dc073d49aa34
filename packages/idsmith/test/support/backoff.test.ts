import { describe, expect, it } from 'vitest';
import { backoff } from '../../src/support/retry.ts';

describe('a back-off', () => {
  it('doubles up to the longest pause, with jitter between the floor and the whole', () => {
    const pauses = [1, 2, 3, 20].map((tries) => backoff(tries, { unit: 5, longest: 250 }, () => 0));
    expect(pauses).toEqual([5, 10, 20, 125]);
    expect(backoff(3, { unit: 5 }, () => 1)).toBe(40);
    expect(backoff(3, { unit: 1, floor: 0 }, () => 0.25)).toBe(2);
  });
});
