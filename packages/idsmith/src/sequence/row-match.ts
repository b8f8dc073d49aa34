import type { SequenceRow } from './blocks.js';

/** Tells whether a row equals another one in every field, except for those that are named. */
export function isLike(
  row: SequenceRow | undefined,
  other: SequenceRow,
  except: readonly (keyof SequenceRow)[],
): row is SequenceRow {
  return row !== undefined && keysOf(other).every((key) => except.includes(key) || row[key] === other[key]);
}

const keysOf = (row: SequenceRow) => Object.keys(row) as (keyof SequenceRow)[];
