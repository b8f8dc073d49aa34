import { positionOf, type SequenceRow, settle, wholeBlocks } from '../../sequence/blocks.js';
import { type Definition, definitionOf, readable, rowOf } from '../definition.js';

// etcd cannot add to a value, but it counts the puts of a key. So blocks are counted with keys that stand for 1, 2, 4 … blocks.
// A client puts the keys for the blocks that it takes, and reads all counter keys in the same transaction. The counts before its
// own puts tell which blocks it has got. No client has to try again because of another one. This file is the pure part: it turns
// counts into rows.

/** The stored part of a sequence, besides its counter: the row at which the counter starts from 0. */
export interface CounterStart {
  /** The row before the first counted block. Where `continues` is present, `next` is not in the row but follows from there. */
  readonly row: SequenceRow;
  readonly continues?: EarlierCounter;
}

/**
 * The counter before an alteration. Others may take blocks with the earlier counter while the sequence is altered. The new
 * counter starts at the end of all those blocks, plus `delta`.
 */
interface EarlierCounter {
  readonly from: SequenceRow;
  /** The name of the earlier counter: the revision of its start. */
  readonly counter: string;
  readonly delta: bigint;
}

/** The row before the first counted block. `takenOf` tells the number of blocks that were taken with a counter. */
export function startOf({ row, continues }: CounterStart, takenOf: (counter: string) => bigint): SequenceRow {
  if (continues === undefined) return row;
  const { from, counter, delta } = continues;
  return settle(row, positionOf(afterBlocks(from, takenOf(counter))) + delta);
}

/** The row without the next blocks. Counts beyond the last block have no meaning. */
export function afterBlocks(row: SequenceRow, blocks: bigint): SequenceRow {
  const left = blocksIn(row);
  const taken = blocks < left ? blocks : left;
  return taken === 0n ? row : settle(row, positionOf(row) + taken * unitOf(row));
}

/** The number of blocks that are left. */
export const blocksIn = (row: SequenceRow) => wholeBlocks(row, positionOf(row));

/** The distance from one block to the next. */
export const unitOf = ({ blockSize, step }: SequenceRow) => BigInt(blockSize) * BigInt(step);

/** The counter keys for a number of blocks, as powers of two: 0 and 2 for 5 blocks. */
export function powersOf(blocks: bigint): number[] {
  return [...blocks.toString(2)].reverse().flatMap((bit, power) => (bit === '1' ? [power] : []));
}

/** The number of blocks that the counter keys stand for, each with its number of puts. */
export function blocksOf(counts: Iterable<readonly [power: number, puts: bigint]>): bigint {
  let blocks = 0n;
  for (const [power, puts] of counts) blocks += puts << BigInt(power);
  return blocks;
}

// The names in the JSON are older than the names in this file, and stay: stores have them.
interface Stored {
  readonly definition: Definition;
  readonly next: string;
  readonly moved?: Omit<Stored, 'moved'> & { readonly tickets: string; readonly delta: string };
}

export function encodeStart({ row, continues }: CounterStart): string {
  const stored: Stored = {
    definition: definitionOf(row),
    next: String(row.next),
    ...(continues !== undefined && {
      moved: {
        definition: definitionOf(continues.from),
        next: String(continues.from.next),
        tickets: continues.counter,
        delta: String(continues.delta),
      },
    }),
  };
  return JSON.stringify(stored);
}

/** @throws StoreError when the text is from something else */
export function decodeStart(name: string, text: string): CounterStart {
  return readable(name, () => {
    const { definition, next, moved } = JSON.parse(text) as Stored;
    const row = rowOf(name, definition, next);
    if (moved === undefined) return { row };
    const from = rowOf(name, moved.definition, moved.next);
    return { row, continues: { from, counter: moved.tickets, delta: BigInt(moved.delta) } };
  });
}
