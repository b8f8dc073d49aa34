import { positionOf, type SequenceRow, settle, wholeBlocks } from '../../sequence/blocks.js';
import { type Definition, definitionOf, readable, rowOf } from '../definition.js';

// etcd cannot add, but it counts how often a key was put. So blocks are taken with tickets, keys that stand for 1, 2, 4 …
// blocks: who puts some, and sees in the same transaction which had been put before, knows which blocks are theirs, and none
// of the others has to try again. What tickets make of a row is decided here; it is pure.

/** What is kept of a sequence besides its tickets. Those count that were put while it was there. */
export interface Ledger {
  /** The row before the first ticket; but its `next` is to be found where `moved` tells. */
  readonly row: SequenceRow;
  readonly moved?: Moved;
}

/** Where a sequence is that was altered while others took tickets: as far as all of those came, and then `delta` further. */
interface Moved {
  readonly from: SequenceRow;
  /** Which tickets they are: the revision of the ledger that was there. */
  readonly tickets: string;
  readonly delta: bigint;
}

/** The row before the first ticket, if `takenOf` tells how many blocks the tickets of a revision are for. */
export function startOf({ row, moved }: Ledger, takenOf: (tickets: string) => bigint): SequenceRow {
  if (moved === undefined) return row;
  return settle(row, positionOf(afterBlocks(moved.from, takenOf(moved.tickets))) + moved.delta);
}

/** The row without the next blocks, or without all that are left: tickets for more have no meaning. */
export function afterBlocks(row: SequenceRow, blocks: bigint): SequenceRow {
  const left = blocksIn(row);
  const taken = blocks < left ? blocks : left;
  return taken === 0n ? row : settle(row, positionOf(row) + taken * unitOf(row));
}

/** How many blocks are left. */
export const blocksIn = (row: SequenceRow) => wholeBlocks(row, positionOf(row));

/** From a block to the next. */
export const unitOf = ({ blockSize, step }: SequenceRow) => BigInt(blockSize) * BigInt(step);

/** The tickets that are for so many blocks: which bits are set, e.g. 0 and 2 for 5. */
export function ticketsFor(blocks: bigint): number[] {
  return [...blocks.toString(2)].reverse().flatMap((bit, power) => (bit === '1' ? [power] : []));
}

/** How many blocks it is that tickets are for, put so many times. */
export function blocksOf(tickets: Iterable<readonly [power: number, count: bigint]>): bigint {
  let blocks = 0n;
  for (const [power, count] of tickets) blocks += count << BigInt(power);
  return blocks;
}

interface Stored {
  readonly definition: Definition;
  readonly next: string;
  readonly moved?: Omit<Stored, 'moved'> & { readonly tickets: string; readonly delta: string };
}

export function encodeLedger({ row, moved }: Ledger): string {
  const stored: Stored = {
    definition: definitionOf(row),
    next: String(row.next),
    ...(moved !== undefined && {
      moved: {
        definition: definitionOf(moved.from),
        next: String(moved.from.next),
        tickets: moved.tickets,
        delta: String(moved.delta),
      },
    }),
  };
  return JSON.stringify(stored);
}

/** @throws StoreError when something else has put there what is no ledger */
export function decodeLedger(name: string, text: string): Ledger {
  return readable(name, () => {
    const { definition, next, moved } = JSON.parse(text) as Stored;
    const row = rowOf(name, definition, next);
    if (moved === undefined) return { row };
    const from = rowOf(name, moved.definition, moved.next);
    return { row, moved: { from, tickets: moved.tickets, delta: BigInt(moved.delta) } };
  });
}
