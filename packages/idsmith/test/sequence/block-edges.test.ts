import fc from 'fast-check';
import { InvalidOptionError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { endOf, isBlock, joined, partOf, withOrigin } from '../../src/sequence/block.ts';
import {
  alterRow,
  canMove,
  defineRow,
  isOver,
  MAX_ID,
  MIN_ID,
  plainChange,
  plainMove,
  positionOf,
  returnTail,
  type SequenceRow,
  settle,
  takeBlocks,
  wholeBlocks,
} from '../../src/sequence/blocks.ts';
import type { SequenceDefinition } from '../../src/sequence/port.ts';
import { isLike } from '../../src/sequence/row-match.ts';

const define = (options: Omit<SequenceDefinition, 'name'> = {}) => defineRow({ name: 'x', ...options }, 1);
const up = define({ start: 1, min: 0, max: 100, blockSize: 10, step: 2 });
const down = define({ start: 99, min: 0, max: 100, blockSize: 10, step: -2 });

describe('a definition', () => {
  it.each<Omit<SequenceDefinition, 'name'>>([
    { blockSize: 1 },
    { blockSize: 2 ** 31 - 1 },
    { step: 2 ** 53 - 1 },
    { step: 1 - 2 ** 53 },
    { start: MIN_ID, min: MIN_ID },
    { start: MAX_ID, max: MAX_ID },
    { start: 5, min: 5, max: 5 },
    { start: 2 ** 53 - 1 },
  ])('may be %o', (options) => {
    expect(define(options)).toMatchObject({ next: BigInt(options.start ?? 1), exhausted: false, mark: '0' });
  });

  it.each<object>([
    { blockSize: 0 },
    { blockSize: 2 ** 31 },
    { step: 0 },
    { step: 2 ** 53 },
    { step: 1.5 },
    { start: MIN_ID - 1n },
    { start: MAX_ID + 1n },
    { start: 2 ** 53 },
    { start: 4, min: 5 },
    { start: 6, max: 5 },
    { min: 3, max: 2 },
    { cycle: 'yes' },
  ])('may not be %o', (options) => {
    expect(() => define(options)).toThrow(InvalidOptionError);
  });

  it('has the whole range of 64 bits, and a cycle begins where it started', () => {
    expect(define()).toMatchObject({ blockSize: 20, step: 1, min: MIN_ID, max: MAX_ID, cycle: false });
    expect(define({ start: 7, cycle: true })).toMatchObject({ min: 7n, max: MAX_ID });
    expect(define({ start: 7, step: -1, cycle: true })).toMatchObject({ min: MIN_ID, max: 7n });
  });
});

describe('a plain move', () => {
  it('has a range that ends where the next block would pass a limit', () => {
    expect(plainMove(up, 3)).toEqual({ delta: 60n, low: 0n, high: 40n });
    expect(plainMove(down, 3)).toEqual({ delta: -60n, low: 60n, high: 100n });
    expect(plainMove(up, 5)).toEqual({ delta: 100n, low: 0n, high: 0n });
    expect(plainMove(up, 6)).toBeUndefined();
    expect(plainMove({ ...up, blockSize: 0 }, 1)).toBeUndefined();
    expect(plainMove({ ...up, blockSize: 1 }, 1)).toEqual({ delta: 2n, low: 0n, high: 98n });
  });

  it('is one that a column of 64 bits can add', () => {
    const wide = (blockSize: number) => define({ start: MIN_ID, step: 2 ** 52, blockSize });
    expect(plainMove(wide(2 ** 11), 1)).toBeUndefined();
    expect(plainMove(wide(2 ** 11 - 1), 1)?.delta).toBe(2n ** 63n - 2n ** 52n);
  });

  it('can be made on the edges of its range, and not beyond', () => {
    const move = { delta: 60n, low: 0n, high: 40n };
    const can = (next: bigint, exhausted = false) => canMove({ ...up, next, exhausted }, move);
    expect([-1n, 0n, 40n, 41n].map((next) => can(next))).toEqual([false, true, true, false]);
    expect(can(20n, true)).toBe(false);
  });
});

describe('a plain change', () => {
  const small = fc.integer({ min: -40, max: 40 });
  const changes = fc.record(
    { min: small, max: small, next: small, step: fc.integer({ min: -3, max: 3 }) },
    { requiredKeys: [] },
  );
  const definition = fc.record({
    start: fc.integer({ min: -10, max: 10 }),
    step: fc.constantFrom(-2, -1, 1, 2),
    min: fc.integer({ min: -40, max: -10 }),
    max: fc.integer({ min: 10, max: 40 }),
    blockSize: fc.integer({ min: 1, max: 5 }),
  });

  it('reaches at least as far as was asked, within the limits, from every place of its range and no other', () => {
    fc.assert(
      fc.property(definition, fc.nat(3), changes, (options, taken, wanted) => {
        let row = define(options);
        let altered: SequenceRow;
        try {
          for (let i = 0; i < taken; i++) row = takeBlocks(row, 1).row;
          altered = alterRow(row, wanted);
        } catch {
          return;
        }
        const move = plainChange(row, altered);
        const delta = altered.exhausted ? 0n : altered.next - row.next;
        const isFine = (place: bigint) => {
          const isAhead = row.step > 0 ? place >= row.next : place <= row.next;
          const isIn = ({ min, max }: SequenceRow, id: bigint) => id >= min && id <= max;
          if (altered.exhausted) return isAhead && (row.step > 0 ? place <= row.max : place >= row.min);
          return isAhead && [place, place + delta].every((id) => isIn(row, id) && isIn(altered, id));
        };
        for (let place = -60n; place <= 60n; place++)
          expect(move !== undefined && place >= move.low && place <= move.high).toBe(
            !row.exhausted && isFine(place),
          );
        if (move) expect(move.delta).toBe(delta);
      }),
      { numRuns: 500 },
    );
  });
});

describe('the end of a sequence', () => {
  it('is just past the limit, where a cycle starts over', () => {
    expect(settle(up, 100n)).toMatchObject({ next: 100n, exhausted: false });
    expect(settle(up, 101n)).toMatchObject({ next: 101n, exhausted: true });
    expect(settle(down, 0n)).toMatchObject({ next: 0n, exhausted: false });
    expect(settle(down, -1n)).toMatchObject({ next: -1n, exhausted: true });
    expect(settle({ ...up, cycle: true }, 101n)).toMatchObject({ next: 0n, exhausted: false });
    expect(settle({ ...down, cycle: true }, -1n)).toMatchObject({ next: 100n, exhausted: false });
    expect(settle(define(), MAX_ID + 1n)).toMatchObject({ next: MIN_ID, exhausted: true });
  });

  it('is told, also when a limit was moved behind the row', () => {
    expect([100n, 101n].map((next) => isOver({ ...up, next }))).toEqual([false, true]);
    expect([0n, -1n].map((next) => isOver({ ...down, next }))).toEqual([false, true]);
    expect(isOver({ ...up, next: 101n, cycle: true })).toBe(false);
    expect(isOver({ ...up, exhausted: true, cycle: true })).toBe(true);
  });

  it('is a position beyond 64 bits when next has overflowed', () => {
    const end = (row: SequenceRow, next: bigint) => positionOf({ ...row, next, exhausted: true });
    expect([end(up, 101n), end(up, 100n)]).toEqual([101n, MAX_ID + 1n]);
    expect([end(down, -1n), end(down, 0n)]).toEqual([-1n, MIN_ID - 1n]);
    expect([positionOf({ ...up, next: -7n }), positionOf({ ...up, next: 7n })]).toEqual([0n, 7n]);
    expect([positionOf({ ...down, next: 107n }), positionOf({ ...down, next: 7n })]).toEqual([100n, 7n]);
  });

  it('leaves only whole blocks', () => {
    const left = (row: SequenceRow, ...next: bigint[]) => next.map((id) => wholeBlocks(row, id));
    expect(left(define({ max: 10, blockSize: 5 }), 1n, 2n, 6n, 7n, 10n, 11n, 12n)).toEqual(
      [2, 1, 1, 0, 0, 0, 0].map(BigInt),
    );
    expect(left(define({ max: 10, blockSize: 2, step: 3 }), 1n, 2n, 5n)).toEqual([2n, 1n, 1n]);
    expect(left(define({ min: -10, blockSize: 2, step: -3 }), -1n, -2n, -11n)).toEqual([2n, 1n, 0n]);
  });

  it('can be taken back by a tail, though next has overflowed', () => {
    const { block, row } = takeBlocks(define({ start: MAX_ID - 9n, blockSize: 10 }), 1);
    expect(row).toMatchObject({ next: MIN_ID, exhausted: true });
    const back = returnTail(row, partOf(block, 5, 5));
    expect(back).toMatchObject({ next: MAX_ID - 4n, exhausted: false });
  });
});

describe('a tail', () => {
  const { block, row } = takeBlocks(up, 2);
  const tail = partOf(block, 5, 15);

  it('goes back if the row stands at its end, in the same life and with the same step', () => {
    expect(returnTail(row, tail)?.next).toBe(11n);
    expect(returnTail(takeBlocks(row, 1).row, tail)).toBeUndefined();
    expect(returnTail({ ...row, generation: 2 }, tail)).toBeUndefined();
    expect(returnTail({ ...row, cycle: true }, tail)).toBeUndefined();
    const other = withOrigin({ first: endOf(tail) - 15n, step: 1, count: 15 }, 1);
    expect(returnTail(row, other)).toBeUndefined();
  });
});

describe('runs', () => {
  const run = (first: bigint, count: number, step = 2, origin?: number) =>
    withOrigin({ first, step, count }, origin);

  it('are joined only if one follows the other, with the same step and of the same origin', () => {
    expect(joined([run(1n, 3), run(7n, 2), run(11n, 1)])).toEqual([run(1n, 6)]);
    for (const next of [run(8n, 2), run(7n, 2, 3), run(7n, 2, 2, 5)])
      expect(joined([run(1n, 3), next])).toEqual([run(1n, 3), next]);
    expect(joined([run(1n, 3, 2, 5), run(7n, 2, 2, 5)])[0]?.origin).toBe(5);
  });

  it('have an end, parts, and at least one id', () => {
    expect(endOf(run(1n, 3))).toBe(7n);
    expect(partOf(run(1n, 9, -2, 4), 2, 3)).toMatchObject({ first: -3n, step: -2, count: 3, origin: 4 });
    expect(Object.keys(run(1n, 1, 1, 4))).toEqual(['first', 'step', 'count']);
    expect(isBlock(run(1n, 1))).toBe(true);
    for (const wrong of [run(1n, 0), run(1n, 1.5), run(1n, 1, 0), run(1 as never, 1), undefined, null])
      expect(isBlock(wrong)).toBe(false);
  });
});

describe('a row', () => {
  it('is like another one in every field, except for those that are named', () => {
    expect(isLike(up, { ...up }, [])).toBe(true);
    expect(isLike(undefined, up, ['next'])).toBe(false);
    for (const field of Object.keys(up) as (keyof SequenceRow)[]) {
      const other = { ...up, [field]: 'other' } as unknown as SequenceRow;
      expect(isLike(up, other, [])).toBe(false);
      expect(isLike(up, other, [field])).toBe(true);
    }
  });
});
