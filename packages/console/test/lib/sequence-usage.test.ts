import { describe, expect, it } from 'vitest';
import type { SequenceJson } from '../../src/api/types.ts';
import { idsLeft, isOpenEnded, positionOf, usageOf } from '../../src/lib/sequence-usage.ts';

const MIN = String(-(2n ** 63n));
const MAX = String(2n ** 63n - 1n);

function sequence(changes: Partial<SequenceJson> = {}): SequenceJson {
  const shape = { name: 'orders', start: '1', next: '1', blockSize: 20, step: 1, min: MIN, max: MAX };
  return { ...shape, cycle: false, exhausted: false, handedOut: 0, since: 1, ...changes };
}

describe('the used share of a sequence', () => {
  it('counts from the start, because ids before it are never allocated', () => {
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
    ['10', { kind: 'allocated', index: 0n }],
    ['40', { kind: 'allocated', index: 3n }],
    ['50', { kind: 'ahead', index: 4n }],
    ['100', { kind: 'ahead', index: 9n }],
    ['0', { kind: 'none' }],
    ['110', { kind: 'none' }],
    ['45', { kind: 'none' }],
  ])('%s', (id, place) => {
    expect(positionOf(tens, BigInt(id))).toEqual(place);
  });

  it('is allocated for every id once the sequence is exhausted', () => {
    expect(positionOf({ ...tens, exhausted: true }, 100n).kind).toBe('allocated');
  });
});

it('knows a limit that is nobody’s choice', () => {
  expect(isOpenEnded(sequence())).toBe(true);
  expect(isOpenEnded(sequence({ max: '5' }))).toBe(false);
  expect(isOpenEnded(sequence({ step: -1, max: '5' }))).toBe(true);
});

it.each([
  ['33500', '33,500'],
  ['0', '0'],
  ['9223372036854758607', '> 1,000T'],
  [null, 'no end'],
  [undefined, '—'],
])('idsLeft shows %s as %s', (remaining, shown) => {
  expect(idsLeft(sequence(remaining === undefined ? {} : { remaining }))).toBe(shown);
});
