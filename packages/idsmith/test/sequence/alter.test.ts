import { InvalidOptionError } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { alterRow, defineRow, type SequenceRow } from '../../src/sequence/blocks.ts';
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
