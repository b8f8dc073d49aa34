import fc from 'fast-check';
import { InvalidOptionError, SequenceExhaustedError } from 'idsmith';
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
  supplyOf,
  takeBlocks,
  wholeBlocks,
} from '../../src/sequence/blocks.ts';
import type { Block, SequenceDefinition } from '../../src/sequence/port.ts';
import { isLike } from '../../src/sequence/rows.ts';
import { vectors } from '../support/vectors.ts';

interface Case {
  row: { next_block_start: string; block_size: number; exhausted: 0 | 1 };
  firstIds: string[];
  then?: string;
  rowAfterFirstFetch?: { next_block_start: string; exhausted: 0 | 1 };
}
const { cases } = vectors<{ topcoder: { cases: Case[] } }>('flakes-and-blocks').topcoder;

const define = (options: Omit<SequenceDefinition, 'name'> = {}) => defineRow({ name: 'x', ...options }, 1);

const idsOf = ({ first, step, count }: Block) =>
  Array.from({ length: count }, (_, i) => first + BigInt(step) * BigInt(i));

describe('the cases of the original', () => {
  it.each(cases)(
    'a row of $row.next_block_start, size $row.block_size, exhausted $row.exhausted',
    (given) => {
      const row: SequenceRow = {
        ...define(),
        next: BigInt(given.row.next_block_start),
        blockSize: given.row.block_size,
        exhausted: given.row.exhausted === 1,
      };
      if (given.row.block_size === 0) expect(() => takeBlocks(row, 1)).toThrow(InvalidOptionError);
      else if (given.firstIds.length === 0) expect(() => takeBlocks(row, 1)).toThrow(SequenceExhaustedError);
      else {
        const taken = takeBlocks(row, 1);
        expect(idsOf(taken.block).slice(0, 3).map(String)).toEqual(given.firstIds);
        expect(String(taken.row.next)).toBe(given.rowAfterFirstFetch?.next_block_start);
        expect(Number(taken.row.exhausted)).toBe(given.rowAfterFirstFetch?.exhausted);
        if (given.then) expect(() => takeBlocks(taken.row, 1)).toThrow(SequenceExhaustedError);
      }
    },
  );
});

describe('laws of all sequences', () => {
  const small = fc.integer({ min: -40, max: 40 });
  const definition = fc
    .record({
      start: small,
      span: fc.tuple(fc.nat(60), fc.nat(60)),
      step: fc.integer({ min: -4, max: 4 }).filter((step) => step !== 0),
      blockSize: fc.integer({ min: 1, max: 6 }),
    })
    .map(({ start, span: [below, above], ...shape }) => ({
      ...shape,
      start,
      min: start - below,
      max: start + above,
    }));
  type Action =
    | { do: 'take'; blocks: number }
    | { do: 'return'; count: number }
    | { do: 'alter'; changes: object };
  const action: fc.Arbitrary<Action> = fc.oneof(
    fc.record({ do: fc.constant('take' as const), blocks: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ do: fc.constant('return' as const), count: fc.integer({ min: 1, max: 8 }) }),
    fc.record({
      do: fc.constant('alter' as const),
      changes: fc.record(
        { min: small, max: small, blockSize: fc.integer({ min: 1, max: 6 }), next: small, step: small },
        { requiredKeys: [] },
      ),
    }),
  );

  it('no id is given out twice or outside the limits, whatever is taken, returned and altered', () => {
    fc.assert(
      fc.property(definition, fc.array(action, { maxLength: 25 }), (options, actions) => {
        let row = define(options);
        const given = new Set<bigint>();
        let held: Block[] = [];
        for (const each of actions) {
          try {
            if (each.do === 'take') {
              const taken = takeBlocks(row, each.blocks);
              for (const id of idsOf(taken.block)) {
                expect(given.has(id)).toBe(false);
                expect(id >= row.min && id <= row.max).toBe(true);
                given.add(id);
              }
              expect(taken.block.count % row.blockSize).toBe(0);
              row = taken.row;
              held.push(taken.block);
            } else if (each.do === 'return') {
              const block = held.pop();
              if (block === undefined || block.count < each.count) continue;
              const tail = partOf(block, block.count - each.count, each.count);
              const next = returnTail(row, tail);
              if (next === undefined) continue;
              for (const id of idsOf(tail)) given.delete(id);
              row = next;
            } else {
              row = alterRow(row, each.changes);
              held = [];
            }
          } catch (error) {
            if (!(error instanceof InvalidOptionError || error instanceof SequenceExhaustedError))
              throw error;
          }
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('a plain move takes what the whole decision takes', () => {
    fc.assert(
      fc.property(definition, fc.integer({ min: 1, max: 5 }), fc.nat(20), (options, blocks, before) => {
        let row = define(options);
        try {
          for (let i = 0; i < before; i++) row = takeBlocks(row, 1).row;
        } catch {
          // At the end, which is where it gets interesting.
        }
        const move = plainMove(row, blocks);
        if (move === undefined || !canMove(row, move)) return;
        const taken = takeBlocks(row, blocks);
        expect(taken.block.first).toBe(row.next);
        expect(taken.block.count).toBe(blocks * row.blockSize);
        expect(taken.row).toEqual({ ...row, next: row.next + move.delta });
      }),
      { numRuns: 3000 },
    );
  });
});

describe('limits', () => {
  it('a block that would pass 2^63 − 1 is not plain, however large', () => {
    const row = define({ start: MAX_ID - 100n, blockSize: 2 ** 31 - 1, step: Number.MAX_SAFE_INTEGER });
    expect(plainMove(row, 1)).toBeUndefined();
    expect(() => takeBlocks(row, 1)).toThrow(SequenceExhaustedError);
  });

  it('the whole range of 64 bits is one block', () => {
    const { block, row } = takeBlocks(define({ start: MIN_ID, step: 2 ** 53 - 1, blockSize: 2000 }), 10);
    expect(idsOf(block).at(-1)).toBeLessThanOrEqual(MAX_ID);
    expect(block.count).toBe(2000);
    expect(row.exhausted).toBe(false);
  });

  it('a limit that is lowered below what was given ends the sequence, and raised again lets it go on', () => {
    const used = takeBlocks(define({ blockSize: 10 }), 1).row;
    const ended = alterRow(used, { max: 5 });
    expect(ended.exhausted).toBe(true);
    expect(takeBlocks(alterRow(ended, { max: 20 }), 1).block.first).toBe(11n);
  });

  it('a lowest id above where the sequence stands moves it there', () => {
    expect(takeBlocks(alterRow(define(), { min: 100 }), 1).block.first).toBe(100n);
    expect(takeBlocks(alterRow(define({ step: -1 }), { max: -100 }), 1).block.first).toBe(-100n);
  });

  it('says how many ids are left and how many a block needs', () => {
    expect(() => takeBlocks(define({ max: 5, blockSize: 6 }), 1)).toThrow(
      'sequence "x" is at its end: 5 ids are left, and a block needs 6',
    );
  });
});

describe('a row that somebody has set to exhausted', () => {
  const stopped = (options: Omit<SequenceDefinition, 'name'>, next: bigint): SequenceRow => ({
    ...define(options),
    next,
    exhausted: true,
  });

  it('goes on where a new next says, a block later at least, so that no id repeats', () => {
    const row = stopped({ max: 1000 }, 101n);
    expect(() => alterRow(row, { next: 120 })).toThrow('121 or further on');
    expect(alterRow(row, { next: 121 })).toMatchObject({ next: 121n, exhausted: false });
    const down = stopped({ start: 500, step: -2, blockSize: 10, min: 0 }, 100n);
    expect(() => alterRow(down, { next: 81 })).toThrow('80 or further on');
    expect(alterRow(down, { next: 80 })).toMatchObject({ next: 80n, exhausted: false });
  });

  it('stays exhausted without a new next', () => {
    expect(alterRow(stopped({ max: 1000 }, 101n), { max: 2000 }).exhausted).toBe(true);
    expect(alterRow(stopped({}, 101n), { blockSize: 5 }).exhausted).toBe(true);
  });

  it('is not taken for one whose next has overflowed', () => {
    for (const blockSize of [1, 20, 1000]) {
      const last = takeBlocks(define({ start: MAX_ID - BigInt(blockSize) + 1n, blockSize }), 1).row;
      expect(last).toMatchObject({ next: MIN_ID, exhausted: true });
      expect(() => alterRow(last, { next: 5 })).toThrow(InvalidOptionError);
      const first = takeBlocks(
        define({ start: MIN_ID + BigInt(blockSize) - 1n, step: -1, blockSize }),
        1,
      ).row;
      expect(first).toMatchObject({ next: MAX_ID, exhausted: true });
      expect(() => alterRow(first, { next: 5 })).toThrow(InvalidOptionError);
    }
  });

  it('never repeats an id, with any limits and steps', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: MIN_ID, max: MAX_ID }),
        fc.integer({ min: 1, max: 1000 }),
        fc.integer({ min: 1, max: 5 }),
        fc.bigInt({ min: MIN_ID, max: MAX_ID }),
        (start, blockSize, step, next) => {
          const row = define({ start, blockSize, step });
          if (plainMove(row, 1) === undefined || start > MAX_ID - BigInt(blockSize * step) + 1n) return;
          const taken = takeBlocks(row, 1);
          try {
            const altered = alterRow({ ...taken.row, exhausted: true }, { next });
            expect(altered.next > taken.block.first + BigInt((blockSize - 1) * step)).toBe(true);
          } catch (error) {
            expect(error).toBeInstanceOf(InvalidOptionError);
          }
        },
      ),
    );
  });
});

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

  it('has known options and a name', () => {
    expect(() => define({ strat: 1 } as never)).toThrow(InvalidOptionError);
    expect(() => defineRow({ name: '' }, 1)).toThrow(InvalidOptionError);
    expect(define({ start: 7, step: 1, cycle: true })).toMatchObject({ min: 7n });
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

  it('is none on a row that is exhausted, or where the move is too far', () => {
    expect(plainChange({ ...up, exhausted: true }, { ...up, max: 200n })).toBeUndefined();
    expect(plainChange(up, alterRow(up, { next: 150, max: 200 }))).toBeUndefined();
    const lowest = define({ start: MIN_ID });
    expect(plainChange(lowest, alterRow(lowest, { next: MAX_ID }))).toBeUndefined();
  });

  it('may be one id, or none', () => {
    expect(plainChange(up, alterRow(up, { next: 2 }))).toEqual({ delta: 1n, low: 1n, high: 99n });
    expect(plainChange(down, alterRow(down, { next: 98 }))).toEqual({ delta: -1n, low: 1n, high: 99n });
    expect(plainChange(slow, alterRow(slow, {}))).toEqual({ delta: 0n, low: 1n, high: 100n });
  });

  it('of a limit that is moved over the row begins at the new limit, so that the row itself is swapped', () => {
    expect(plainChange(up, alterRow(up, { min: 10 }))).toEqual({ delta: 9n, low: 10n, high: 91n });
    expect(plainChange(down, alterRow(down, { max: 90 }))).toEqual({ delta: -9n, low: 9n, high: 90n });
  });

  it('that ends the sequence does so from anywhere between the row and the old limit', () => {
    for (const row of [up, slow])
      expect(plainChange({ ...row, next: 61n }, alterRow({ ...row, next: 61n }, { max: 50 }))).toEqual({
        delta: 0n,
        low: 61n,
        high: 100n,
      });
    expect(plainChange({ ...down, next: 39n }, alterRow({ ...down, next: 39n }, { min: 50 }))).toEqual({
      delta: 0n,
      low: 0n,
      high: 39n,
    });
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
    expect([100n, 101n].map((next) => isOver({ ...up, blockSize: 1, next }))).toEqual([false, true]);
    expect([0n, -1n].map((next) => isOver({ ...down, blockSize: 1, next }))).toEqual([false, true]);
    expect(isOver({ ...up, next: 101n, cycle: true })).toBe(false);
    expect(isOver({ ...up, exhausted: true, cycle: true })).toBe(true);
  });

  it('is told when fewer ids are left than a block needs', () => {
    const row = { ...up, step: 1, blockSize: 5 };
    expect([96n, 97n].map((next) => isOver({ ...row, next }))).toEqual([false, true]);
    expect([4n, 3n].map((next) => isOver({ ...down, step: -1, blockSize: 5, next }))).toEqual([false, true]);
    expect(isOver({ ...row, next: 97n, cycle: true })).toBe(false);
    expect(isOver({ ...row, max: row.min + 3n, next: row.min, cycle: true })).toBe(true);
    expect(isOver({ ...row, blockSize: 0 })).toBe(false);
  });

  it('leaves ids that blocks reach, and ids that only a smaller block reaches', () => {
    const row = { ...up, step: 1, blockSize: 5 };
    expect(supplyOf({ ...row, next: 89n })).toEqual({ remaining: 10n, stranded: 2n });
    expect(supplyOf({ ...row, next: 97n, exhausted: true })).toEqual({ remaining: 0n, stranded: 4n });
    expect(supplyOf({ ...row, next: 101n, exhausted: true })).toEqual({ remaining: 0n, stranded: 0n });
    expect(supplyOf({ ...row, next: 50n, exhausted: true })).toEqual({ remaining: 0n, stranded: 51n });
    expect(supplyOf({ ...down, step: -1, blockSize: 5, next: 11n })).toEqual({
      remaining: 10n,
      stranded: 2n,
    });
    expect(supplyOf({ ...row, cycle: true })).toBeUndefined();
    expect(supplyOf({ ...define(), next: MAX_ID })).toEqual({ remaining: 0n, stranded: 1n });
  });

  it('leaves ids at either end of the range, and none beyond it', () => {
    const row = { ...up, step: 1, blockSize: 1, min: 1n, max: 10n };
    const left = (next: bigint, more = {}) => supplyOf({ ...row, next, ...more });
    expect([left(1n), left(10n), left(11n)].map((supply) => supply?.remaining)).toEqual([10n, 1n, 0n]);
    // A row of another program may lie before its range: it begins there.
    expect(left(-5n)).toEqual({ remaining: 10n, stranded: 0n });
    const stopped = [0n, 1n, 10n, 11n].map((next) => left(next, { exhausted: true }));
    expect(stopped.map((supply) => supply?.stranded)).toEqual([0n, 10n, 1n, 0n]);
    expect(left(1n, { cycle: true, exhausted: true })).toEqual({ remaining: 0n, stranded: 10n });
    expect(left(1n, { blockSize: 0 })).toEqual({ remaining: 0n, stranded: 10n });
    expect(left(1n, { blockSize: 2 })).toEqual({ remaining: 10n, stranded: 0n });
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

  it('are joined with the last one, not with the first', () => {
    const run = (first: bigint, count: number) => ({ first, step: 2, count });
    expect(joined([run(1n, 3), run(20n, 2), run(24n, 1)])).toEqual([run(1n, 3), run(20n, 3)]);
  });

  it('without an origin have no such property', () => {
    expect(Object.hasOwn(withOrigin({ first: 1n, step: 1, count: 1 }, undefined), 'origin')).toBe(false);
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

const slow = define({ start: 1, min: 0, max: 100, blockSize: 10, step: 1 });

describe('a row that somebody has set to exhausted', () => {
  const stopped = (row: SequenceRow, next: bigint) => ({ ...row, next, exhausted: true });

  it.each<[bigint, bigint, number]>([
    [MIN_ID + 1n, MIN_ID + 2n, 2],
    [MAX_ID - 1n, MAX_ID - 2n, -2],
    [MIN_ID, MIN_ID + 1n, 1],
    [MAX_ID, MAX_ID - 1n, -1],
  ])('has overflowed at %s, and not at %s', (overflowed, not, step) => {
    const row = define({ start: 0, step, blockSize: 10 });
    expect(() => alterRow(stopped(row, overflowed), { next: 5 })).toThrow('or further on');
    expect(alterRow(stopped(row, not), { next: 5 })).toMatchObject({ next: 5n, exhausted: false });
  });

  it('goes on one id later at least, also where another program has made blocks without ids', () => {
    for (const blockSize of [0, 1]) {
      const row = stopped({ ...slow, blockSize }, 50n);
      expect(() => alterRow(row, { next: 50, blockSize: 5 })).toThrow('51 or further on');
      expect(alterRow(row, { next: 51, blockSize: 5 })).toMatchObject({ next: 51n, exhausted: false });
    }
  });

  it('may stand at a limit', () => {
    expect(alterRow(stopped(up, 0n), { next: 20 })).toMatchObject({ next: 20n, exhausted: false });
    expect(alterRow(stopped(up, 100n), { next: 120, max: 200 })).toMatchObject({ next: 120n });
    // Outside the limits, next has overflowed, or the row has come to its end.
    expect(() => alterRow(stopped(up, -1n), { next: 20 })).toThrow('or further on');
    expect(alterRow(stopped(up, 101n), { next: 101, max: 200 })).toMatchObject({ next: 101n });
  });
});

describe('a position', () => {
  it('is within the limits, with the smallest step, too', () => {
    expect([-7n, 7n].map((next) => positionOf({ ...slow, next }))).toEqual([0n, 7n]);
    expect([107n, 7n].map((next) => positionOf({ ...down, step: -1, next }))).toEqual([100n, 7n]);
  });
});

describe('an allocation', () => {
  it('is refused on a row of blocks without ids', () => {
    expect(() => takeBlocks({ ...up, blockSize: 0 }, 1)).toThrow(InvalidOptionError);
    expect(takeBlocks({ ...up, blockSize: 1 }, 1).block).toEqual({ first: 1n, step: 2, count: 1 });
  });

  it('takes whole blocks, as many as are left', () => {
    expect(takeBlocks({ ...up, next: 81n }, 1).block).toMatchObject({ first: 81n, count: 10 });
    expect(takeBlocks({ ...up, next: 61n }, 2).block).toMatchObject({ first: 61n, count: 20 });
    expect(takeBlocks({ ...up, next: 63n }, 2).block).toMatchObject({ first: 63n, count: 10 });
    expect(() => takeBlocks({ ...up, next: 83n }, 1)).toThrow(SequenceExhaustedError);
    expect(() => takeBlocks({ ...up, next: 101n, exhausted: true }, 1)).toThrow(SequenceExhaustedError);
  });

  it('takes nothing a step behind the limit', () => {
    for (const [row, next] of [
      [up, 101n],
      [down, -1n],
    ] as const)
      expect(() => takeBlocks({ ...row, blockSize: 1, next, exhausted: true }, 1)).toThrow(
        SequenceExhaustedError,
      );
  });

  it('starts a cycle over only if no whole block is left', () => {
    const firstOf = (next: bigint, row = up) => takeBlocks({ ...row, cycle: true, next }, 1).block.first;
    expect([11n, 81n, 83n].map((next) => firstOf(next))).toEqual([11n, 81n, 0n]);
    expect([89n, 18n, 17n].map((next) => firstOf(next, down))).toEqual([89n, 18n, 100n]);
    const short = { ...up, cycle: true, blockSize: 90 };
    expect(() => takeBlocks(short, 1)).toThrow(SequenceExhaustedError);
  });
});
