import { describe, expect, it } from 'vitest';
import type { SequenceJson } from '../../src/api/types.ts';
import { forecastOf, rateOf, type Samples, withSamples } from '../../src/lib/sequence-rate.ts';
import { isOpenEnded, placeOf, usageOf } from '../../src/lib/sequence-usage.ts';

const MIN = String(-(2n ** 63n));
const MAX = String(2n ** 63n - 1n);

function sequence(changes: Partial<SequenceJson> = {}): SequenceJson {
  const shape = { name: 'orders', start: '1', next: '1', blockSize: 20, step: 1, min: MIN, max: MAX };
  return { ...shape, cycle: false, exhausted: false, ...changes };
}

describe('the used share of a sequence', () => {
  it('counts from the start, since the ids before it are never given out', () => {
    const { used, total, left, share } = usageOf(sequence({ start: '1', next: '51', max: '100' }));
    expect({ used, total, left, share }).toEqual({ used: 50n, total: 100n, left: 50n, share: 0.5 });
  });

  it('counts downwards when the step is negative', () => {
    const { used, total } = usageOf(sequence({ start: '1000', next: '900', step: -10, min: '0' }));
    expect([used, total]).toEqual([10n, 101n]);
  });

  it('counts from the lowest id when another program defined it', () => {
    expect(usageOf(sequence({ start: null, min: '1', next: '26', max: '100' })).share).toBe(0.25);
  });

  it('is whole once the sequence is exhausted, whatever next is then', () => {
    const { share, left } = usageOf(sequence({ next: MIN, exhausted: true }));
    expect([share, left]).toEqual([1, 0n]);
  });

  it('is exact to the last id of 64 bits', () => {
    const { used, total, left } = usageOf(sequence({ start: MIN, next: MAX, min: MIN, max: MAX }));
    expect([used, total, left]).toEqual([2n ** 64n - 1n, 2n ** 64n, 1n]);
  });

  it('counts a step that was begun', () => {
    expect(usageOf(sequence({ start: '0', next: '15', step: 10, max: '99' })).used).toBe(2n);
  });
});

describe('the place of an id', () => {
  const tens = sequence({ start: '10', next: '50', step: 10, max: '100' });

  it.each([
    ['10', { kind: 'given', index: 0n }],
    ['40', { kind: 'given', index: 3n }],
    ['50', { kind: 'ahead', index: 4n }],
    ['100', { kind: 'ahead', index: 9n }],
    ['0', { kind: 'none' }],
    ['110', { kind: 'none' }],
    ['45', { kind: 'none' }],
  ])('%s', (id, place) => {
    expect(placeOf(tens, BigInt(id))).toEqual(place);
  });

  it('is behind all ids that were given out, once it is exhausted', () => {
    expect(placeOf({ ...tens, exhausted: true }, 100n).kind).toBe('given');
  });
});

it('knows a limit that is nobody’s choice', () => {
  expect(isOpenEnded(sequence())).toBe(true);
  expect(isOpenEnded(sequence({ max: '5' }))).toBe(false);
  expect(isOpenEnded(sequence({ step: -1, max: '5' }))).toBe(true);
});

describe('the rate of a sequence', () => {
  const at = (looks: readonly (readonly [seconds: number, changes: Partial<SequenceJson>])[]) =>
    looks.reduce<Samples>(
      (samples, [seconds, changes]) => withSamples(samples, [sequence(changes)], seconds * 1000),
      new Map(),
    );
  const rate = (samples: Samples) => rateOf(samples.get('orders'));

  it('needs two looks', () => {
    expect(rate(at([[0, {}]]))).toBeUndefined();
    expect(
      rate(
        at([
          [0, { next: '1' }],
          [2, { next: '201' }],
        ]),
      ),
    ).toBe(100);
  });

  it('counts ids and not numbers', () => {
    const samples = at([
      [0, { start: '0', next: '0', step: 10 }],
      [1, { start: '0', next: '1000', step: 10 }],
    ]);
    expect(rate(samples)).toBe(100);
  });

  it('looks back a minute', () => {
    const samples = at([
      [0, { next: '1' }],
      [30, { next: '60001' }],
      [70, { next: '60001' }],
      [80, { next: '60101' }],
    ]);
    expect(rate(samples)).toBe(2);
  });

  it('begins anew when the sequence is another one', () => {
    const samples = at([
      [0, { next: '1001' }],
      [10, { next: '1' }],
      [20, { next: '11' }],
    ]);
    expect(rate(samples)).toBe(1);
  });

  it('goes on when a cycle has come round', () => {
    const cycle = { min: '1', max: '100', cycle: true };
    const samples = at([
      [0, { ...cycle, next: '91' }],
      [10, { ...cycle, next: '11' }],
    ]);
    expect(rate(samples)).toBe(2);
  });

  it('forgets sequences that are gone', () => {
    const samples = withSamples(at([[0, {}]]), [], 1000);
    expect(samples.size).toBe(0);
  });
});

describe('the forecast', () => {
  it('is when the rest is gone at that rate', () => {
    const half = sequence({ next: '51', max: '100' });
    expect(forecastOf(half, 0.5, 1000)).toEqual({ kind: 'date', at: 101_000 });
  });

  it('says why there is none', () => {
    expect(forecastOf(sequence(), undefined, 0).kind).toBe('measuring');
    expect(forecastOf(sequence(), 0, 0).kind).toBe('idle');
    expect(forecastOf(sequence({ exhausted: true }), 5, 0).kind).toBe('exhausted');
    expect(forecastOf(sequence({ cycle: true }), 5, 0).kind).toBe('cycle');
  });

  it('is a number of years where a date would say nothing', () => {
    const far = forecastOf(sequence(), 1000, 0);
    expect(far).toMatchObject({ kind: 'far', years: expect.closeTo(2.92e8, -7) });
  });
});
