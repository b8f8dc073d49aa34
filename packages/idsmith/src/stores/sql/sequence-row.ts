import { StoreError } from '../../errors.js';
import { show } from '../../options.js';
import type { SequenceRow } from '../../sequence/blocks.js';
import { exactBigInt, exactInteger, plainText } from './values.js';

/** The columns that hold numbers, in the order in which they are read and written. */
export const NUMBERS = [
  'first_id',
  'next_block_start',
  'block_size',
  'step',
  'min_id',
  'max_id',
  'cycles',
  'generation',
  'swap_mark',
];

/** The name of a sequence in messages. */
export const called = (name: string) => `sequence ${show(name)}`;

/**
 * The sequence row of a row of `id_sequences`: its name, its numbers and the flag `exhausted`.
 *
 * @throws RangeError when a column has a value that no sequence can have
 * @throws StoreError when the row has lost its columns in a copy
 */
export function sequenceRow(row: unknown): SequenceRow {
  const [text, start, next, size, step, min, max, cycle, generation, mark, exhausted] = Object.values(
    row as object,
  );
  const name = plainText(text);
  const of = (column: string) => `${column} of ${called(name)}`;
  const signedSize = exactInteger(of('block_size'), size);
  const result = {
    name,
    start: start === null ? undefined : exactBigInt(of('first_id'), start),
    next: exactBigInt(of('next_block_start'), next),
    blockSize: 0,
    step: exactInteger(of('step'), step),
    min: exactBigInt(of('min_id'), min),
    max: exactBigInt(of('max_id'), max),
    cycle: exactInteger(of('cycles'), cycle) !== 0,
    exhausted: exactInteger(of('exhausted'), exhausted) !== 0,
    generation: exactInteger(of('generation'), generation),
    mark: String(exactBigInt(of('swap_mark'), mark)),
  };
  // Only another program can have written a 0. The same ids would be given out forever.
  if (result.step === 0) throw new RangeError(`${of('step')} is 0`);
  if (signedSize < 0 && result.step > 0) throw lostColumns(name, signedSize, result.step);
  return { ...result, blockSize: result.step < 0 ? Math.abs(signedSize) : signedSize };
}

/** The error for a row whose `step` was lost in a copy of four columns, and with it the direction. */
function lostColumns(name: string, size: number, step: number): StoreError {
  return new StoreError(
    `block_size of ${called(name)} is ${size}, so the sequence descends, but its step is ${step}. A copy of the table that ` +
      'leaves out the columns step, min_id, max_id and cycles, as INSERT … SELECT * does where they are invisible, loses the ' +
      'direction and the limits. Copy the table again with all of its columns, or set these columns to their old values',
  );
}
