import type { SqlValue } from '../../executor/port.js';
import type { Move, SequenceRow } from '../../sequence/blocks.js';
import type { SequenceRows } from '../../sequence/rows.js';
import { type Columns, signedBlockSize } from './columns.js';
import { called, NUMBERS, sequenceRow } from './sequence-row.js';
import type { RunStatement, Statement } from './statement.js';
import { exactBigInt } from './values.js';

/** The differences between databases in the statements on `id_sequences`, and the function that runs statements. */
interface SequenceDialect {
  /** The placeholder of the n-th value, which is the text of a number. */
  integer(n: number): string;
  /** The expression of a name: a placeholder, after `add` has made the name a value and told its number, or a literal. */
  name(name: string, add: (value: string) => number): string;
  /** An expression as text, so that no driver rounds it. */
  text(expression: string): string;
  /** The column `name` as text, or as the bytes of its UTF-8. */
  readonly nameText: string;
  /** An expression that is true for an exhausted row, with any type of that column; null if the column is null. */
  readonly isExhausted: string;
  /** The new value of `next_block_start`, by the expression `next`. The old value is at least `low`. */
  moved(low: () => string, next: () => string): string;
  /** The row of values in an INSERT. */
  row(values: string): string;
  /** A condition of every change, ` AND …`: the change is not inside a transaction. */
  readonly outsideTransaction: string;
  /** The end of a statement that makes it give a row for each changed row. {@link before} reads the row of an update. */
  readonly inserted: string;
  readonly updated: string;
  readonly deleted: string;
  /** The `next_block_start` before an update, by the first value in the row that the update gave. */
  before(answer: bigint, move: Move): bigint;
  /** The ranges of the columns, where numbers have to be checked. */
  readonly columns?: Columns | undefined;
  run: RunStatement;
}

/**
 * Sequence rows in `id_sequences`. The block size of a descending sequence is negative in the table. So another program that adds the
 * block size moves in the right direction, and a row that has lost its columns in a copy is recognised.
 */
export function sqlRows(dialect: SequenceDialect): SequenceRows {
  const { columns } = dialect;
  const exhausted = `CASE WHEN ${dialect.isExhausted} THEN 1 ELSE 0 END`;
  const select = `SELECT ${dialect.nameText} AS name, ${[
    ...NUMBERS.map((column) => `${dialect.text(column)} AS ${column}`),
    `${dialect.text(exhausted)} AS exhausted`,
  ].join(', ')} FROM id_sequences`;

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
        }${dialect.outsideTransaction}${dialect.updated}`;
    return { sql, values: values.all };
  }

  function read(name: string): Promise<SequenceRow | undefined> {
    const values = new Values(dialect);
    const sql = `${select} WHERE name = ${values.name(name)}`;
    return dialect.run(
      `reading ${called(name)}`,
      () => ({ sql, values: values.all }),
      ([row]) => (row === undefined ? undefined : sequenceRow(row)),
    );
  }

  /** The `next` before an update, by the rows that the update gave. */
  const before =
    (move: Move) =>
    ([row]: readonly unknown[]) =>
      row === undefined ? undefined : dialect.before(exactBigInt('the answer', firstOf(row)), move);

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
        const sql = `INSERT INTO id_sequences (name, ${NUMBERS.join(', ')}, exhausted) ${dialect.row(list)}`;
        return { sql: sql + dialect.inserted, values: values.all };
      };
      return dialect.run(`defining ${called(name)}`, build, isOne);
    },

    read,

    list() {
      const build = () => ({ sql: select, values: [] });
      return dialect.run('listing sequences', build, (rows) => rows.map(sequenceRow));
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
      return (await dialect.run(`changing ${called(expected.name)}`, build, before(move))) !== undefined;
    },

    delete({ name, generation }) {
      const values = new Values(dialect);
      const sql = `DELETE FROM id_sequences WHERE name = ${values.name(name)}
        AND generation = ${values.integer(generation)}${dialect.outsideTransaction}${dialect.deleted}`;
      return dialect.run(`removing ${called(name)}`, () => ({ sql, values: values.all }), isOne);
    },

    async advance(from, move, to) {
      const isAllocation = to === from;
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
        return update(
          { ...from, exhausted: false },
          possible,
          (values) => `next_block_start + ${values.integer(move.delta)}`,
          (values) => (isAllocation ? [] : redefined(values, to)),
          !isAllocation,
        );
      };
      const what = `${isAllocation ? 'allocating from' : 'altering'} ${called(from.name)}`;
      const found = await dialect.run(what, build, (rows) => before(possible)(rows));
      const isWithin = ({ low, high }: Move) => from.next >= low && from.next <= high;
      if (found === undefined && columns && isWithin(move) && !isWithin(possible))
        throw columns.tooFar(from, move.delta);
      return found;
    },
  };
}

/** The values of a statement that is being built. Each method adds a value and gives its placeholder. */
class Values {
  readonly all: SqlValue[] = [];
  readonly #dialect: SequenceDialect;

  constructor(dialect: SequenceDialect) {
    this.#dialect = dialect;
  }

  name(name: string): string {
    return this.#dialect.name(name, (value) => this.all.push(value));
  }

  /** Adds a number as text: drivers round numbers, or do not accept a bigint. */
  integer(value: bigint | number | boolean | undefined): string {
    const text = value === undefined ? null : String(typeof value === 'boolean' ? Number(value) : value);
    return this.#dialect.integer(this.all.push(text));
  }
}

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
  // Rows of earlier versions have the block size without its sign.
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

const firstOf = (row: unknown) => Object.values(row as object)[0] as unknown;
