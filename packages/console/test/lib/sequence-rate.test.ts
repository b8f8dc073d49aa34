import { describe, expect, it } from 'vitest';
import type { SequenceJson } from '../../src/api/types.ts';
import { forecastOf, rateOf, type UsageSamples, withSamples } from '../../src/lib/sequence-rate.ts';

const MIN = String(-(2n ** 63n));
const MAX = String(2n ** 63n - 1n);

function sequence(changes: Partial<SequenceJson> = {}): SequenceJson {
  const shape = { name: 'orders', start: '1', next: '1', blockSize: 20, step: 1, min: MIN, max: MAX };
  return { ...shape, cycle: false, exhausted: false, handedOut: 0, since: 1, ...changes };
}

type Moment = readonly [seconds: number, changes: Partial<SequenceJson>];

const at = (moments: readonly Moment[]) =>
  moments.reduce<UsageSamples>(
    (samples, [seconds, changes]) => withSamples(samples, [sequence(changes)], seconds * 1000),
    new Map(),
  );
/** A moment every two seconds, up to `seconds`. */
const every2s = (seconds: number, changes: (i: number) => Partial<SequenceJson>): Moment[] =>
  Array.from({ length: seconds / 2 + 1 }, (_, i) => [2 * i, changes(i)] as const);

describe('the rate of a sequence', () => {
  const rate = (samples: UsageSamples) => rateOf(samples.get('orders'));

  it('needs five seconds', () => {
    const moments = every2s(6, (i) => ({ handedOut: 100 * i }));
    expect(rate(at(moments.slice(0, 1)))).toBeUndefined();
    expect(rate(at(moments.slice(0, 3)))).toBeUndefined();
    expect(rate(at(moments))).toBe(50);
  });

  it('counts the ids that are handed out, and not the leaps of the row', () => {
    // One block of a million ids serves the whole time.
    expect(rate(at(every2s(20, (i) => ({ next: '1000001', handedOut: 10 * i }))))).toBe(5);
    // A block that was fetched ahead is not an id that was handed out.
    expect(rate(at(every2s(20, (i) => ({ next: i < 5 ? '1' : '1000001' }))))).toBe(0);
  });

  it('looks back a minute', () => {
    const samples = at([
      [0, { handedOut: 0 }],
      [30, { handedOut: 60_000 }],
      [70, { handedOut: 60_000 }],
      [80, { handedOut: 60_100 }],
    ]);
    expect(rate(samples)).toBe(2);
  });

  it.each([
    ['the server has started again', { handedOut: 500, since: 2 }],
    ['the sequence was replaced', { handedOut: 0 }],
    ['the sequence was altered', { handedOut: 400, next: '-7' }],
  ])('starts again when %s', (_, changes) => {
    const before = every2s(10, (i) => ({ handedOut: 40 * i, next: '100' }));
    expect(rate(at([...before, [12, changes]]))).toBeUndefined();
  });

  it('continues when a cycle starts over', () => {
    const cycle = { min: '1', max: '100', cycle: true };
    const samples = at([
      [0, { ...cycle, next: '91', handedOut: 90 }],
      [10, { ...cycle, next: '11', handedOut: 110 }],
    ]);
    expect(rate(samples)).toBe(2);
  });

  it('goes on after another page of the list, and forgets sequences that are gone for a minute', () => {
    const other = sequence({ name: 'other' });
    const away = withSamples(at([[0, {}]]), [other], 20_000);
    expect(rate(withSamples(away, [sequence({ handedOut: 300 })], 30_000))).toBe(10);
    expect([...withSamples(away, [other], 61_000).keys()]).toEqual(['other']);
  });

  it('has no samples of a row that makes no sense', () => {
    expect(at([[0, { step: 0 }]]).get('orders')).toEqual([]);
  });
});

describe('the forecast', () => {
  const forecast = (moments: readonly Moment[]) => {
    const [, last] = moments.at(-1) as Moment;
    return forecastOf(sequence(last), at(moments).get('orders'), 1000);
  };

  it('is the time when the remaining ids run out', () => {
    const moments = every2s(30, (i) => ({ next: '51', max: '100', handedOut: i }));
    expect(forecast(moments)).toEqual({ kind: 'date', at: 101_000 });
  });

  it('needs half a minute, and more than one burst', () => {
    const moments = every2s(40, (i) => ({ next: '101', max: '100000', handedOut: i > 10 ? 100 : 0 }));
    expect(forecast(every2s(28, (i) => ({ handedOut: i })))).toEqual({ kind: 'measuring' });
    expect(forecast(moments)).toEqual({ kind: 'measuring' });
  });

  it('counts what other processes draw, from block to block', () => {
    // 100 ids every 10 s leave the store, and none of them through this server.
    const moments = every2s(40, (i) => ({ next: String(1 + 100 * Math.floor(i / 5)), max: '1400' }));
    expect(forecast(moments)).toEqual({ kind: 'date', at: 101_000 });
    // Two blocks are not enough.
    expect(forecast(moments.slice(0, 14)).kind).toBe('measuring');
    expect(forecast(every2s(40, (i) => ({ next: i < 12 ? '1' : '101' }))).kind).toBe('measuring');
  });

  it('tells for how long nobody has drawn an id', () => {
    expect(forecast(every2s(28, () => ({})))).toEqual({ kind: 'measuring' });
    expect(forecast(every2s(40, () => ({})))).toEqual({ kind: 'idle', ms: 40_000 });
  });

  it('gives the reason when there is none', () => {
    expect(forecastOf(sequence(), undefined, 0).kind).toBe('measuring');
    expect(forecastOf(sequence({ exhausted: true }), [], 0).kind).toBe('exhausted');
    expect(forecastOf(sequence({ cycle: true }), [], 0).kind).toBe('cycle');
  });

  it('is a number of years when the date is too far ahead', () => {
    const far = forecast(every2s(30, (i) => ({ handedOut: 2000 * i })));
    expect(far).toMatchObject({ kind: 'far', years: expect.closeTo(2.92e8, -7) });
  });
});
