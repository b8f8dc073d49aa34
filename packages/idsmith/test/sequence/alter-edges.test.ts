import { InvalidOptionError, SequenceExhaustedError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { joined, withOrigin } from '../../src/sequence/block.ts';
import {
  alterRow,
  defineRow,
  MAX_ID,
  MIN_ID,
  plainChange,
  positionOf,
  type SequenceRow,
  takeBlocks,
} from '../../src/sequence/blocks.ts';
import type { SequenceChanges, SequenceDefinition } from '../../src/sequence/port.ts';

const define = (options: Omit<SequenceDefinition, 'name'> = {}) => defineRow({ name: 'x', ...options }, 1);
const up = define({ start: 1, min: 0, max: 100, blockSize: 10, step: 2 });
const down = define({ start: 99, min: 0, max: 100, blockSize: 10, step: -2 });
const slow = define({ start: 1, min: 0, max: 100, blockSize: 10, step: 1 });

describe('a change', () => {
  it.each<object>([
    { nxt: 5 },
    { blockSize: 0 },
    { step: 0 },
    { step: 1.5 },
    { cycle: 'yes' },
    { next: null },
  ])('may not be %o', (changes) => {
    expect(() => alterRow(up, changes)).toThrow(InvalidOptionError);
  });

  it('of the step keeps the direction', () => {
    for (const [row, step] of [
      [up, -1],
      [down, 1],
      [slow, -3],
    ] as const)
      expect(() => alterRow(row, { step })).toThrow(`of the same sign as ${row.step}`);
    for (const [row, step] of [
      [up, 1],
      [down, -1],
      [slow, 3],
      [up, 5],
    ] as const)
      expect(alterRow(row, { step })).toEqual({ ...row, step });
  });

  it('makes a cycle, or ends it, or leaves it as it is', () => {
    const round = { ...up, cycle: true };
    expect([up, round].map((row) => alterRow(row, { cycle: true }).cycle)).toEqual([true, true]);
    expect([up, round].map((row) => alterRow(row, { cycle: false }).cycle)).toEqual([false, false]);
    expect([up, round].map((row) => alterRow(row, {}).cycle)).toEqual([false, true]);
  });

  it('keeps min at most max', () => {
    expect(() => alterRow(up, { min: 60, max: 50 })).toThrow('at most max, which is 50');
    expect(() => define({ min: 3, max: 2 })).toThrow('at most max, which is 2');
    expect(alterRow(up, { min: 60, max: 60 })).toMatchObject({ next: 60n, exhausted: false });
  });

  it('moves next forward, within the limits, both ends included', () => {
    const moved = (row: SequenceRow, changes: SequenceChanges) => alterRow(row, changes).next;
    for (const next of [1n, 2n, 100n]) {
      expect(moved(up, { next })).toBe(next);
      expect(moved(slow, { next })).toBe(next);
    }
    for (const next of [99n, 98n, 0n]) expect(moved(down, { next })).toBe(next);
    expect(moved(up, { next: 5, min: 5 })).toBe(5n);
    for (const row of [up, slow])
      expect(() => moved(row, { next: 0 })).toThrow('1 or further on, or ids would repeat');
    expect(() => moved(down, { next: 100 })).toThrow('99 or further on, or ids would repeat');
    for (const [row, changes] of [
      [up, { next: 101 }],
      [up, { next: 3, min: 5 }],
      [down, { next: -1 }],
      [down, { next: 98, max: 90 }],
    ] as const)
      expect(() => moved(row, changes)).toThrow('which are min and max');
  });

  it('of a limit moves the row into the limits, or ends it', () => {
    expect(alterRow(up, { min: 10 })).toMatchObject({ next: 10n, exhausted: false });
    expect(alterRow(down, { max: 50 })).toMatchObject({ next: 50n, exhausted: false });
    expect(alterRow({ ...up, next: 61n }, { max: 50 })).toMatchObject({ next: 61n, exhausted: true });
    expect(alterRow({ ...down, next: 39n }, { min: 50 })).toMatchObject({ next: 39n, exhausted: true });
  });
});

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

describe('a plain change', () => {
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

describe('a position', () => {
  it('is within the limits, with the smallest step, too', () => {
    expect([-7n, 7n].map((next) => positionOf({ ...slow, next }))).toEqual([0n, 7n]);
    expect([107n, 7n].map((next) => positionOf({ ...down, step: -1, next }))).toEqual([100n, 7n]);
  });
});

describe('a definition', () => {
  it('has known options and a name', () => {
    expect(() => define({ strat: 1 } as never)).toThrow(InvalidOptionError);
    expect(() => defineRow({ name: '' }, 1)).toThrow(InvalidOptionError);
    expect(define({ start: 7, step: 1, cycle: true })).toMatchObject({ min: 7n });
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

describe('runs', () => {
  it('are joined with the last one, not with the first', () => {
    const run = (first: bigint, count: number) => ({ first, step: 2, count });
    expect(joined([run(1n, 3), run(20n, 2), run(24n, 1)])).toEqual([run(1n, 3), run(20n, 3)]);
  });

  it('without an origin have no such property', () => {
    expect(Object.hasOwn(withOrigin({ first: 1n, step: 1, count: 1 }, undefined), 'origin')).toBe(false);
  });
});
