import fc from 'fast-check';
import { InvalidOptionError, SequenceExhaustedError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { partOf } from '../../src/sequence/block.ts';
import {
  alterRow,
  canMove,
  defineRow,
  MAX_ID,
  MIN_ID,
  plainMove,
  returnTail,
  type SequenceRow,
  takeBlocks,
} from '../../src/sequence/blocks.ts';
import type { Block, SequenceDefinition } from '../../src/sequence/port.ts';
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
