import { describe, expect, it } from 'vitest';
import { duration, percent, perSecond, relative, short, span } from '../../src/lib/format.ts';

describe('numbers and times for people', () => {
  it('never round something to nothing, nor most to all', () => {
    expect([0, 1e-9, 0.0003, 0.1234, 0.995, 0.99999999, 1].map(percent)).toEqual([
      '0 %',
      '< 0.01 %',
      '0.03 %',
      '12.3 %',
      '99.50 %',
      '> 99.99 %',
      '100 %',
    ]);
    expect([0, 0.001, 0.25, 12.34, 20, 12_345.6].map(perSecond)).toEqual([
      '0',
      '< 0.01',
      '0.25',
      '12.3',
      '20',
      '12,346',
    ]);
  });

  it('have units', () => {
    expect([0, 0.00082, 0.0013, 0.042, 2.44].map(duration)).toEqual([
      '0 ms',
      '820 µs',
      '1.3 ms',
      '42 ms',
      '2.4 s',
    ]);
    expect([4711, 1_234_567, 2n ** 63n].map(short)).toEqual(['4,711', '1.2M', '9,223,372T']);
    expect([999, 61_000, 3.7e6, 1e8, 4e11].map(span)).toEqual([
      '0 seconds',
      '1 minute',
      '1 hour',
      '1 day',
      '12 years',
    ]);
  });

  it('say whether a time is past', () => {
    expect(relative(0, 7_200_000)).toBe('2 hours ago');
    expect(relative(60_000, 0)).toBe('in 1 minute');
    expect(relative(0, 100)).toBe('just now');
  });
});
