import { StoreError } from '../errors.js';
import { show } from '../options.js';
import { type SequenceRow, UNMARKED } from '../sequence/blocks.js';

/** A row but for its name, its mark and `next`, as JSON. Numbers that may have 64 bits are text. */
export interface Definition {
  readonly start: string | null;
  readonly blockSize: number;
  readonly step: number;
  readonly min: string;
  readonly max: string;
  readonly cycle: boolean;
  readonly exhausted: boolean;
  readonly generation: number;
}

/** Always with the same fields in the same order, so that its text can be compared. */
export function definitionOf(row: SequenceRow): Definition {
  return {
    start: row.start === undefined ? null : String(row.start),
    blockSize: row.blockSize,
    step: row.step,
    min: String(row.min),
    max: String(row.max),
    cycle: row.cycle,
    exhausted: row.exhausted,
    generation: row.generation,
  };
}

export const encodeDefinition = (row: SequenceRow) => JSON.stringify(definitionOf(row));

/** The row of a definition that was kept, of its `next` and of its mark. */
export function rowOf(name: string, definition: Definition, next: string, mark = UNMARKED): SequenceRow {
  const { start, min, max } = definition;
  return {
    ...definition,
    name,
    mark,
    start: start === null ? undefined : BigInt(start),
    next: BigInt(next),
    min: BigInt(min),
    max: BigInt(max),
  };
}

/** @throws StoreError when something else has put there what is no row */
export function decodeRow(name: string, definition: string, next: string, mark?: string): SequenceRow {
  return readable(name, () => rowOf(name, JSON.parse(definition), next, mark));
}

/** What `decode` gives. */
export function readable<T>(name: string, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    throw new StoreError(`what is kept of sequence ${show(name)} cannot be read`, { cause: error });
  }
}
