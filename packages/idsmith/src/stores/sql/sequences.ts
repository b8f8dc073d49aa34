import { StoreError } from '../../errors.js';
import { show } from '../../options.js';
import type { Move, SequenceRow } from '../../sequence/blocks.js';
import type { SequenceRows } from '../../sequence/rows.js';
import { type Columns, signedBlockSize } from './columns.js';
import { type Dialect, type RunStatement, type Statement, Values } from './dialect.js';
import type { SqlLineage } from './lineage.js';
import { sqlPasts } from './pasts.js';
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

/** The way of sequence rows to their database. */
interface RowsOptions {
  readonly run: RunStatement;
  /** The ranges of the columns, where numbers have to be checked. */
  readonly columns?: Columns | undefined;
  /** True if rows are made and removed in a transaction of the caller's. */
  readonly isInside?: boolean;
  /** Tells the lineage of the database, if anything can. */
  readonly lineage?: SqlLineage;
  /** The longest jump of a sequence after a loss, in ids. */
  readonly maxJump?: number | undefined;
}

/** An allocation as it was sent. */
interface Allocation {
  readonly wanted: Move;
  readonly what: string;
  readonly statement: Statement;
  /** Makes the answer of its rows. */
  readonly make: (rows: readonly unknown[]) => bigint | undefined;
}

/**
 * Sequence rows in `id_sequences`. The block size of a descending sequence is negative in the table. So another program that adds the
 * block size moves in the right direction, and a row that has lost its columns in a copy is recognised.
 */
export function sqlRows(
  dialect: Dialect,
  { run, columns, isInside = false, lineage, maxJump }: RowsOptions,
): SequenceRows {
  const outside = isInside ? '' : dialect.outsideTransaction;
  const isOutside = outside && ` AND ${outside}`;
  const exhausted = exhaustedFlag(dialect);
  const select = () => `SELECT ${columnList(dialect, lineage)} FROM id_sequences`;

  const past = lineage && sqlPasts(dialect, run, lineage, maxJump);
  const isStill = (values: Values, row: SequenceRow) => lineage?.isStill(values, row.lineage) ?? '';
  const isOne = (rows: readonly unknown[]) => rows.length === 1;

  /**
   * The update that changes the row if it equals `from` in all fields but `next`, and `next` is from `low` to `high`. The start is not
   * compared, because it stays the same within a generation.
   */
  function update(
    from: SequenceRow,
    move: Move,
    next: (values: Values) => string,
    changes: (values: Values) => string[],
    isMarked: boolean,
  ): Statement {
    const values = new Values(dialect);
    const moved = dialect.moved(
      () => values.integer(move.low),
      () => next(values),
    );
    const sql = `UPDATE id_sequences SET ${[`next_block_start = ${moved}`, ...changes(values)].join(', ')}
      WHERE name = ${values.name(from.name)}
        AND next_block_start BETWEEN ${values.integer(move.low)} AND ${values.integer(move.high)}
        AND ${exhausted} = ${values.integer(from.exhausted)}
        AND ${sameDefinition(values, from)}
        AND generation = ${values.integer(from.generation)}${
          isMarked ? ` AND swap_mark = ${values.integer(BigInt(from.mark))}` : ''
        }${isStill(values, from)}${isOutside}${dialect.updated}`;
    return { sql, values: values.all };
  }

  function read(name: string): Promise<SequenceRow | undefined> {
    const build = () => {
      const values = new Values(dialect);
      const sql = `${select()} WHERE name = ${values.name(name)}`;
      return { sql, values: values.all };
    };
    return run(`reading ${called(name)}`, build, ([row]) =>
      row === undefined ? undefined : sequenceRow(row, lineage),
    );
  }

  /** The `next` before an update, by the rows that the update gave. */
  const before =
    (move: Move) =>
    ([row]: readonly unknown[]) =>
      row === undefined ? undefined : dialect.before(exactBigInt('the answer', firstOf(row)), move);

  /** The last allocation from each row. The statement stays the same until the row is read again. */
  const allocations = new WeakMap<SequenceRow, Allocation>();

  return {
    insert(row) {
      const { name, start, next, step, min, max, cycle, generation } = row;
      const size = signedBlockSize(row);
      const mark = BigInt(row.mark);
      const numbers = [start, next, size, step, min, max, cycle, generation, mark, row.exhausted];
      const build = () => {
        columns?.requireRow(row);
        const values = new Values(dialect);
        const list = [values.name(name), ...numbers.map((number) => values.integer(number))].join(', ');
        const still = isStill(values, row);
        const condition = still && `${outside || '1 = 1'}${still}`;
        const sql = `INSERT INTO id_sequences (name, ${NUMBERS.join(', ')}, exhausted) ${dialect.row(list, condition || outside)}`;
        return { sql: sql + (isInside ? dialect.unlessThere : dialect.inserted), values: values.all };
      };
      return run(`defining ${called(name)}`, build, isOne);
    },

    read,

    list() {
      const build = () => ({ sql: select(), values: [] });
      return run('listing sequences', build, (rows) => rows.map((row) => sequenceRow(row, lineage)));
    },

    async swap(expected, next) {
      const move = { delta: 0n, low: expected.next, high: expected.next };
      const build = () => {
        columns?.requireRow(next);
        return update(
          expected,
          move,
          (values) => values.integer(next.next),
          (values) => [`exhausted = ${values.integer(next.exhausted)}`, ...redefined(values, next)],
          true,
        );
      };
      return (await run(`changing ${called(expected.name)}`, build, before(move))) !== undefined;
    },

    async delete(row) {
      const { name, generation } = row;
      const build = () => {
        const values = new Values(dialect);
        const sql = `DELETE FROM id_sequences WHERE name = ${values.name(name)}
        AND generation = ${values.integer(generation)}${
          isInside ? ` AND swap_mark = ${values.integer(BigInt(row.mark))}` : ''
        }${isStill(values, row)}${isOutside}${dialect.returning}`;
        return { sql, values: values.all };
      };
      const isDeleted = await run(`removing ${called(name)}`, build, isOne);
      // A sequence that is defined again begins anew.
      if (isDeleted) await past?.remove(name);
      return isDeleted;
    },

    async advance(from, wanted, to) {
      const isAllocation = to === from;
      const known = isAllocation ? allocations.get(from) : undefined;
      if (known && isSame(known.wanted, wanted)) return run(known.what, () => known.statement, known.make);
      const move = dialect.reach === undefined ? wanted : limited(dialect.reach, from, wanted);
      if (columns?.reaches(to) === false) {
        // The row may be out of date, and may have got limits since.
        const row = await read(from.name);
        if (row?.min === from.min && row.max === from.max) columns.requireReach(to);
        return undefined;
      }
      let possible = move;
      const build = () => {
        if (!isAllocation) columns?.requireRow({ ...to, next: from.next });
        possible = columns?.narrow(from, move) ?? move;
        const statement = update(
          { ...from, exhausted: false },
          possible,
          (values) => `next_block_start + ${values.integer(move.delta)}`,
          (values) => (isAllocation ? [] : redefined(values, to)),
          !isAllocation,
        );
        if (isAllocation && isSame(possible, move))
          allocations.set(from, { wanted, what, statement, make: before(move) });
        return statement;
      };
      const what = `${isAllocation ? 'allocating from' : 'altering'} ${called(from.name)}`;
      const found = await run(what, build, (rows) => before(possible)(rows));
      const isWithin = ({ low, high }: Move) => from.next >= low && from.next <= high;
      if (found === undefined && columns && isWithin(move) && !isWithin(possible))
        throw columns.tooFar(from, move.delta);
      return found;
    },

    ...(past && { past }),
  };
}

/** The columns of a row in a SELECT, in the order in which {@link sequenceRow} reads them. */
export const columnList = (dialect: Dialect, lineage: SqlLineage | undefined) =>
  [
    `${dialect.nameText} AS name`,
    ...NUMBERS.map((column) => `${dialect.asText(column)} AS ${column}`),
    `${dialect.asText(exhaustedFlag(dialect))} AS exhausted`,
    ...(lineage ? [lineage.column] : []),
  ].join(', ');

/** The column `exhausted` as 1 or 0, with any type. */
export const exhaustedFlag = ({ isExhausted }: Dialect) => `CASE WHEN ${isExhausted} THEN 1 ELSE 0 END`;

/** Assignments of all columns that a change may set, except `next_block_start` and `exhausted`. */
function redefined(values: Values, row: SequenceRow): string[] {
  return [
    `block_size = ${values.integer(signedBlockSize(row))}`,
    ...shape(values, row),
    `generation = ${values.integer(row.generation)}`,
    `swap_mark = ${values.integer(BigInt(row.mark))}`,
  ];
}

/** The condition that the definition is still the same. */
function sameDefinition(values: Values, row: SequenceRow): string {
  const sizes = [values.integer(signedBlockSize(row))];
  // Other programs may write the block size without its sign.
  if (row.step < 0) sizes.push(values.integer(row.blockSize));
  return [`block_size IN (${sizes.join(', ')})`, ...shape(values, row)].join(' AND ');
}

/** The added columns of the definition, as assignments or conditions. */
function shape(values: Values, { step, min, max, cycle }: SequenceRow): string[] {
  return [
    `step = ${values.integer(step)}`,
    `min_id = ${values.integer(min)}`,
    `max_id = ${values.integer(max)}`,
    `cycles = ${values.integer(cycle)}`,
  ];
}

/** The move for the values of `next_block_start` that are at most `reach` away. */
function limited(reach: bigint, { next }: SequenceRow, { delta, low, high }: Move): Move {
  const [lowest, highest] = [next - reach, next + reach];
  return { delta, low: low > lowest ? low : lowest, high: high < highest ? high : highest };
}

const isSame = (one: Move, other: Move) =>
  one.delta === other.delta && one.low === other.low && one.high === other.high;

const firstOf = (row: unknown) => Object.values(row as object)[0] as unknown;

/**
 * The sequence row of a row of `id_sequences`: its name, its numbers, the flag `exhausted`, and the lineage if it was asked for.
 *
 * @throws RangeError when a column has a value that no sequence can have
 * @param reader reads the lineage, if it was asked for
 * @throws StoreError when the row has lost its columns in a copy, or comes from a server that was replaced
 */
export function sequenceRow(row: unknown, reader?: SqlLineage): SequenceRow {
  const [text, start, next, size, step, min, max, cycle, generation, mark, exhausted, told] = Object.values(
    row as object,
  );
  const lineage = reader?.read(told);
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
    ...(lineage !== undefined && { lineage }),
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
    { reason: 'WRONG_TABLE' },
  );
}
