import type { Move, SequenceRow } from '../../sequence/blocks.js';
import type { SequenceRows } from '../../sequence/rows.js';
import { type Columns, signedBlockSize } from './columns.js';
import { called, NUMBERS, sequenceRow } from './sequence-row.js';
import { exactBigInt } from './values.js';

/** A statement and its values. */
export interface Statement {
  readonly sql: string;
  readonly values: unknown[];
}

/** What differs between databases in the statements on `id_sequences`, and how they are run. */
interface SequenceDialect {
  /** The place of the n-th value, the text of a number. */
  integer(n: number): string;
  /** The place of the n-th value, a name. */
  name(n: number): string;
  /** A name as a value. */
  nameValue(name: string): unknown;
  /** An expression as text, so that no driver rounds it. */
  text(expression: string): string;
  /** The column `name` as text, or as the bytes of its UTF-8. */
  readonly nameText: string;
  /** Whether a row is exhausted, whatever type another program has given that column; null if that is. */
  readonly isExhausted: string;
  /** How `next_block_start` is set to an expression, if it was at least `low`. */
  moved(low: () => string, next: () => string): string;
  /** What is inserted: a row of values. */
  row(values: string): string;
  /** A condition of every change, ` AND …`: that the change is a transaction of its own. */
  readonly outsideTransaction: string;
  /** What a statement needs in addition to give a row for each that it changed; of an update, {@link before} knows it. */
  readonly inserted: string;
  readonly updated: string;
  readonly deleted: string;
  /** Where `next_block_start` was, of the first value in the row that an update gave. */
  before(answer: bigint, move: Move): bigint;
  /** What the columns hold, where that has to be watched. */
  readonly columns?: Columns | undefined;
  /** Runs a statement, described for messages and built when the table is set up, and makes something of its rows. */
  run<T>(what: string, build: () => Statement, make: (rows: unknown[]) => T): Promise<T>;
}

/**
 * Rows of `id_sequences`. The block size of a sequence that descends is negative there: another program that adds it goes the
 * right way, and a row that has lost our columns in a copy is known by it.
 */
export function sqlRows(dialect: SequenceDialect): SequenceRows {
  const { columns } = dialect;
  const exhausted = `CASE WHEN ${dialect.isExhausted} THEN 1 ELSE 0 END`;
  const select = `SELECT ${dialect.nameText} AS name, ${[
    ...NUMBERS.map((column) => `${dialect.text(column)} AS ${column}`),
    `${dialect.text(exhausted)} AS exhausted`,
  ].join(', ')} FROM id_sequences`;

  const isOne = (rows: unknown[]) => rows.length === 1;

  /**
   * The update that changes the row if it is `from` in all but `next`, which has to be within `low` and `high`. The start is not
   * compared: it stays as long as the generation does.
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

  /** Where `next` was, of the rows that an update gave. */
  const before =
    (move: Move) =>
    ([row]: unknown[]) =>
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
        // A row from the past may have got limits since.
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

/** The values of a statement in the making: each is put where its place is written. */
class Values {
  readonly all: unknown[] = [];
  readonly #dialect: SequenceDialect;

  constructor(dialect: SequenceDialect) {
    this.#dialect = dialect;
  }

  name(name: string): string {
    return this.#dialect.name(this.all.push(this.#dialect.nameValue(name)));
  }

  /** As text: drivers round numbers, or do not take a bigint. */
  integer(value: bigint | number | boolean | undefined): string {
    const text = value === undefined ? null : String(typeof value === 'boolean' ? Number(value) : value);
    return this.#dialect.integer(this.all.push(text));
  }
}

/** All that a change may set but `next_block_start` and `exhausted`, as assignments. */
function redefined(values: Values, row: SequenceRow): string[] {
  return [
    `block_size = ${values.integer(signedBlockSize(row))}`,
    ...shape(values, row),
    `generation = ${values.integer(row.generation)}`,
    `swap_mark = ${values.integer(BigInt(row.mark))}`,
  ];
}

/** The condition that the columns are as they were which stay the same until the sequence is altered. */
function sameDefinition(values: Values, row: SequenceRow): string {
  const sizes = [values.integer(signedBlockSize(row))];
  // Rows of earlier versions have it without its sign.
  if (row.step < 0) sizes.push(values.integer(row.blockSize));
  return [`block_size IN (${sizes.join(', ')})`, ...shape(values, row)].join(' AND ');
}

/** The columns that are ours and the same until the sequence is altered, as assignments or conditions. */
function shape(values: Values, { step, min, max, cycle }: SequenceRow): string[] {
  return [
    `step = ${values.integer(step)}`,
    `min_id = ${values.integer(min)}`,
    `max_id = ${values.integer(max)}`,
    `cycles = ${values.integer(cycle)}`,
  ];
}

const firstOf = (row: unknown) => Object.values(row as object)[0] as unknown;
