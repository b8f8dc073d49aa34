import { describe, expect, it } from 'vitest';
import type { SequenceJson } from '../../src/api/types.ts';
import { forecastOf, rateOf, type UsageSamples, withSamples } from '../../src/lib/sequence-rate.ts';

const MIN = String(-(2n ** 63n));
const MAX = String(2n ** 63n - 1n);

function sequence(changes: Partial<SequenceJson> = {}): SequenceJson {
  const shape = { name: 'orders', start: '1', next: '1', blockSize: 20, step: 1, min: MIN, max: MAX };
  return { ...shape, cycle: false, exhausted: false, ...changes };
}

describe('the rate of a sequence', () => {
  const at = (moments: readonly (readonly [seconds: number, changes: Partial<SequenceJson>])[]) =>
    moments.reduce<UsageSamples>(
      (samples, [seconds, changes]) => withSamples(samples, [sequence(changes)], seconds * 1000),
      new Map(),
    );
  const rate = (samples: UsageSamples) => rateOf(samples.get('orders'));

  it('needs two samples', () => {
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

  it('starts again when the sequence was replaced', () => {
    const samples = at([
      [0, { next: '1001' }],
      [10, { next: '1' }],
      [20, { next: '11' }],
    ]);
    expect(rate(samples)).toBe(1);
  });

  it('continues when a cycle starts over', () => {
    const cycle = { min: '1', max: '100', cycle: true };
    const samples = at([
      [0, { ...cycle, next: '91' }],
      [10, { ...cycle, next: '11' }],
    ]);
    expect(rate(samples)).toBe(2);
  });

  it('drops sequences that were removed', () => {
    const samples = withSamples(at([[0, {}]]), [], 1000);
    expect(samples.size).toBe(0);
  });
});

describe('the forecast', () => {
  it('is the time when the remaining ids run out', () => {
    const half = sequence({ next: '51', max: '100' });
    expect(forecastOf(half, 0.5, 1000)).toEqual({ kind: 'date', at: 101_000 });
  });

  it('gives the reason when there is none', () => {
    expect(forecastOf(sequence(), undefined, 0).kind).toBe('measuring');
    expect(forecastOf(sequence(), 0, 0).kind).toBe('idle');
    expect(forecastOf(sequence({ exhausted: true }), 5, 0).kind).toBe('exhausted');
    expect(forecastOf(sequence({ cycle: true }), 5, 0).kind).toBe('cycle');
  });

  it('is a number of years when the date is too far ahead', () => {
    const far = forecastOf(sequence(), 1000, 0);
    expect(far).toMatchObject({ kind: 'far', years: expect.closeTo(2.92e8, -7) });
  });
});
