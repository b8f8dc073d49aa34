import { StoreError } from '../../errors.js';
import { show } from '../../options.js';
import type { Move, SequenceRow } from '../../sequence/blocks.js';
import { plainText } from './values.js';

// Another program may have created `id_sequences` with narrow columns. MySQL in its non-strict mode writes the nearest number that a
// column can hold, without an error, and the same ids would be given out again. So nothing is written that does not fit.

/** The lowest and the highest number that a column can hold. */
export interface Range {
  readonly low: bigint;
  readonly high: bigint;
}

const BITS = new Map([
  ['tinyint', 8],
  ['smallint', 16],
  ['mediumint', 24],
  ['int', 32],
  ['integer', 32],
  ['bigint', 64],
]);

/**
 * The highest number of `DECIMAL(12,0)`, the narrowest column of upstream's tables. In a column of at least this width a sequence needs
 * no limits, and goes as far as the column does. In a narrower column a sequence needs limits that fit.
 */
const FAR = 10n ** 12n - 1n;

/** Types that cannot hold every whole number exactly. */
const NO_NUMBERS = /^(float|double|real|money|bit|year|bool|json|enum|set|date|time)|char|text|blob|binary/;

/**
 * The range of a column type, as the database writes it: `int(10) unsigned`, `numeric(12,0)`. `undefined` where the type sets no limit
 * or is unknown. `'inexact'` where the type is not for whole numbers.
 *
 * @example
 * rangeOfType('decimal(10,0)'); // { low: -9999999999n, high: 9999999999n }
 */
export function rangeOfType(type: string): Range | 'inexact' | undefined {
  const text = type.toLowerCase();
  const isUnsigned = /unsigned|zerofill/.test(text);
  const [, word = '', digits, scale = '0'] =
    /^(\w+)(?:\s*\(\s*(\d+)\s*(?:,\s*(-?\d+)\s*)?\))?/.exec(text) ?? [];
  const bits = BITS.get(word);
  if (bits !== undefined) {
    const size = 2n ** BigInt(bits);
    return isUnsigned ? { low: 0n, high: size - 1n } : { low: -size / 2n, high: size / 2n - 1n };
  }
  if (word === 'decimal' || word === 'numeric') {
    if (digits === undefined) return undefined;
    if (scale !== '0') return 'inexact';
    const high = 10n ** BigInt(digits) - 1n;
    return { low: isUnsigned ? 0n : -high, high };
  }
  return NO_NUMBERS.test(text) ? 'inexact' : undefined;
}

/** The numbers of a row by their columns. The block size of a descending sequence is negative, see {@link signedBlockSize}. */
function numbersOf(row: SequenceRow): [column: string, value: bigint | number | undefined][] {
  return [
    ['first_id', row.start],
    ['next_block_start', row.next],
    ['block_size', signedBlockSize(row)],
    ['step', row.step],
    ['min_id', row.min],
    ['max_id', row.max],
    ['generation', row.generation],
    ['swap_mark', BigInt(row.mark)],
  ];
}

/** The columns of {@link numbersOf}. Another program may add columns of any type, which are none of ours. */
const NUMBERS = new Set([
  'first_id',
  'next_block_start',
  'block_size',
  'step',
  'min_id',
  'max_id',
  'generation',
  'swap_mark',
]);

/** The block size in the table: negative if the sequence descends. */
export const signedBlockSize = ({ step, blockSize }: SequenceRow) => (step < 0 ? -blockSize : blockSize);

/** The highest value of `next_block_start`, after the last id. */
const endOf = ({ step, min, max }: SequenceRow) => (step > 0 ? max : min) + BigInt(step);

/** The types and ranges of the columns of `id_sequences`, after `learn` has read them. */
export class Columns {
  readonly #widening: (column: string) => string;
  readonly #types = new Map<string, string>();
  readonly #ranges = new Map<string, Range>();
  #nameLength = Number.POSITIVE_INFINITY;

  /** @param widening gives the statement that makes a column as wide as in a table of idsmith */
  constructor(widening: (column: string) => string) {
    this.#widening = widening;
  }

  /**
   * Learns the types of the columns.
   *
   * @param rows begin with the name and the type of a column
   * @throws StoreError when a column cannot hold whole numbers
   */
  learn(rows: readonly unknown[]): void {
    for (const row of rows) {
      const [column, type] = Object.values(row as object).map((value) => plainText(value).toLowerCase());
      this.#learn(column as string, type as string);
    }
  }

  #learn(column: string, type: string): void {
    this.#types.set(column, type);
    if (column === 'name') {
      const [, length] = /char[a-z ]*\((\d+)\)/.exec(type) ?? [];
      if (length !== undefined) this.#nameLength = Number(length);
    } else if (NUMBERS.has(column)) {
      const range = rangeOfType(type);
      if (range === 'inexact')
        throw new StoreError(
          `the column ${column} of id_sequences is ${type}, which does not hold whole numbers exactly: ` +
            `run ${this.#widening(column)}`,
          { reason: 'WRONG_TABLE' },
        );
      if (range !== undefined) this.#ranges.set(column, range);
    }
  }

  /**
   * Checks that the table can hold a row.
   *
   * @throws StoreError naming the column, its type and the statement that makes it wider
   */
  requireRow(row: SequenceRow): void {
    if ([...row.name].length > this.#nameLength) throw this.#tooNarrow(row, 'name', row.name);
    this.requireReach(row);
    for (const [column, value] of numbersOf(row)) {
      const range = this.#ranges.get(column);
      if (range !== undefined && value !== undefined && (value < range.low || value > range.high))
        throw this.#tooNarrow(row, column, value);
    }
  }

  /**
   * Checks that `next_block_start` can hold the end of the sequence.
   *
   * @throws StoreError as {@link requireRow} does
   */
  requireReach(row: SequenceRow): void {
    if (this.reaches(row)) return;
    const { low, high } = this.#ranges.get('next_block_start') as Range;
    const [limit, fitting] =
      row.step > 0 ? ['max', high - BigInt(row.step)] : ['min', low - BigInt(row.step)];
    const otherwise = `, or give the sequence a ${limit} of ${fitting}`;
    throw this.#tooNarrow(row, 'next_block_start', endOf(row), otherwise);
  }

  /** Tells whether `next_block_start` can hold the end of the sequence. */
  reaches(row: SequenceRow): boolean {
    const range = this.#ranges.get('next_block_start');
    if (range === undefined || range.high >= FAR) return true;
    const end = endOf(row);
    return end >= range.low && end <= range.high;
  }

  /**
   * The part of a move that fits into `next_block_start`.
   *
   * @throws StoreError when no part fits
   */
  narrow(row: SequenceRow, { delta, low, high }: Move): Move {
    const range = this.#ranges.get('next_block_start');
    if (range === undefined) return { delta, low, high };
    const [lowest, highest] = delta > 0n ? [range.low, range.high - delta] : [range.low - delta, range.high];
    const narrowed = { delta, low: low > lowest ? low : lowest, high: high < highest ? high : highest };
    if (low <= high && narrowed.low > narrowed.high) throw this.tooFar(row, delta);
    return narrowed;
  }

  /** The error for a move that does not fit into `next_block_start`. */
  tooFar(row: SequenceRow, delta: bigint): StoreError {
    return this.#tooNarrow(row, 'next_block_start', row.next + delta);
  }

  #tooNarrow({ name }: SequenceRow, column: string, value: unknown, otherwise = ''): StoreError {
    return new StoreError(
      `sequence ${show(name)}: the column ${column} of id_sequences, which is ${this.#types.get(column)}, cannot ` +
        `hold ${show(value)}: run ${this.#widening(column)}${otherwise}`,
      { reason: 'WRONG_TABLE' },
    );
  }
}
