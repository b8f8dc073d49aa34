import { StoreError } from '../errors.js';
import type { Ceiling } from '../lineage/ceiling.js';
import { show } from '../options.js';
import { type SequenceRow, UNMARKED } from '../sequence/blocks.js';

/** A row as JSON, without its name, its mark and `next`. Numbers that may have 64 bits are text. */
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

/** The definition in a row. Its fields always have the same order, so that texts can be compared. */
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

/** The row of a stored definition, with its `next` and its mark. */
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

/** @throws StoreError when the stored text is not a row */
export function decodeRow(name: string, definition: string, next: string, mark?: string): SequenceRow {
  return readable(name, () => rowOf(name, JSON.parse(definition), next, mark));
}

/** A ceiling as text, always the same for the same values, so that texts can be compared. */
export function encodeCeiling({ lineage, ceiling, matured, base, writtenAt }: Ceiling): string {
  return JSON.stringify([lineage, String(ceiling), String(matured), String(base), writtenAt]);
}

/** @throws StoreError when the stored text is not a ceiling */
export function decodeCeiling(name: string, text: string): Ceiling {
  return readable(name, () => {
    const [lineage, ceiling, matured, base, writtenAt] = JSON.parse(text);
    const [first, second, third] = [ceiling, matured, base].map(BigInt) as [bigint, bigint, bigint];
    return { lineage, ceiling: first, matured: second, base: third, writtenAt };
  });
}

/** The result of `decode`. @throws StoreError naming the sequence when `decode` fails */
export function readable<T>(name: string, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    throw new StoreError(
      `the stored data of sequence ${show(name)} cannot be read: another program may have written it`,
      { cause: error, reason: 'UNREADABLE' },
    );
  }
}
