import { show } from '../../options.js';
import type { Move, SequenceRow } from '../../sequence/blocks.js';
import type { SequenceRows } from '../../sequence/rows.js';
import { exactBigInt, exactInteger, plainText } from '../sql.js';

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
  /** What a statement needs in addition to give a row for each that it changed; of an update, {@link before} knows it. */
  readonly inserted: string;
  readonly updated: string;
  readonly deleted: string;
  /** Where `next_block_start` was, of the first value in the row that an update gave. */
  before(answer: bigint, move: Move): bigint;
  /** Runs a statement, described for messages, and makes something of its rows. */
  run<T>(what: string, sql: string, values: unknown[], make: (rows: unknown[]) => T): Promise<T>;
}

/** Rows of `id_sequences`. */
export function sqlRows(dialect: SequenceDialect): SequenceRows {
  const exhausted = `CASE WHEN ${dialect.isExhausted} THEN 1 ELSE 0 END`;
  const select = `SELECT ${dialect.nameText} AS name, ${[
    ...NUMBERS.map((column) => `${dialect.text(column)} AS ${column}`),
    `${dialect.text(exhausted)} AS exhausted`,
  ].join(', ')} FROM id_sequences`;

  const isOne = (rows: unknown[]) => rows.length === 1;

  /**
   * Changes the row if it is `from` in all but `next`, which has to be within `low` and `high`. The start is not compared:
   * it stays as long as the generation does.
   *
   * @returns where `next` was
   */
  function update(
    what: string,
    from: SequenceRow,
    move: Move,
    next: (values: Values) => string,
    changes: (values: Values) => string[],
  ): Promise<bigint | undefined> {
    const values = new Values(dialect);
    const moved = dialect.moved(
      () => values.integer(move.low),
      () => next(values),
    );
    const sql = `UPDATE id_sequences SET ${[`next_block_start = ${moved}`, ...changes(values)].join(', ')}
      WHERE name = ${values.name(from.name)}
        AND next_block_start BETWEEN ${values.integer(move.low)} AND ${values.integer(move.high)}
        AND ${exhausted} = ${values.integer(from.exhausted)}
        AND ${definition(values, from).join(' AND ')}
        AND generation = ${values.integer(from.generation)}${dialect.updated}`;
    return dialect.run(what, sql, values.all, ([row]) =>
      row === undefined ? undefined : dialect.before(exactBigInt('the answer', firstOf(row)), move),
    );
  }

  return {
    insert(row) {
      const values = new Values(dialect);
      const { name, start, next, blockSize, step, min, max, cycle, generation } = row;
      const numbers = [start, next, blockSize, step, min, max, cycle, generation, row.exhausted];
      const sql = `INSERT INTO id_sequences (name, ${NUMBERS.join(', ')}, exhausted)
        VALUES (${values.name(name)}, ${numbers.map((number) => values.integer(number)).join(', ')})`;
      return dialect.run(`defining ${called(name)}`, sql + dialect.inserted, values.all, isOne);
    },

    read(name) {
      const values = new Values(dialect);
      const sql = `${select} WHERE name = ${values.name(name)}`;
      return dialect.run(`reading ${called(name)}`, sql, values.all, ([row]) =>
        row === undefined ? undefined : sequenceRow(row),
      );
    },

    list() {
      return dialect.run('listing sequences', select, [], (rows) => rows.map(sequenceRow));
    },

    async swap(expected, next) {
      const move = { delta: 0n, low: expected.next, high: expected.next };
      const before = await update(
        `changing ${called(expected.name)}`,
        expected,
        move,
        (values) => values.integer(next.next),
        (values) => [`exhausted = ${values.integer(next.exhausted)}`, ...redefined(values, next)],
      );
      return before !== undefined;
    },

    delete(name) {
      const values = new Values(dialect);
      const sql = `DELETE FROM id_sequences WHERE name = ${values.name(name)}${dialect.deleted}`;
      return dialect.run(`removing ${called(name)}`, sql, values.all, isOne);
    },

    advance(from, move, to) {
      return update(
        to === from ? `allocating from ${called(from.name)}` : `altering ${called(from.name)}`,
        { ...from, exhausted: false },
        move,
        (values) => `next_block_start + ${values.integer(move.delta)}`,
        (values) => (to === from ? [] : redefined(values, to)),
      );
    },
  };
}

/** The columns that hold numbers, in the order in which they are read and written. */
const NUMBERS = [
  'first_id',
  'next_block_start',
  'block_size',
  'step',
  'min_id',
  'max_id',
  'cycles',
  'generation',
];

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

/** All that a change may set but `next_block_start` and `exhausted`. */
function redefined(values: Values, row: SequenceRow): string[] {
  return [...definition(values, row), `generation = ${values.integer(row.generation)}`];
}

/** The columns that are the same until the sequence is altered, as assignments or conditions. */
function definition(values: Values, { blockSize, step, min, max, cycle }: SequenceRow): string[] {
  return [
    `block_size = ${values.integer(blockSize)}`,
    `step = ${values.integer(step)}`,
    `min_id = ${values.integer(min)}`,
    `max_id = ${values.integer(max)}`,
    `cycles = ${values.integer(cycle)}`,
  ];
}

function sequenceRow(row: unknown): SequenceRow {
  const [text, start, next, blockSize, step, min, max, cycle, generation, exhausted] = Object.values(
    row as object,
  );
  const name = plainText(text);
  const of = (column: string) => `${column} of ${called(name)}`;
  const result = {
    name,
    start: start === null ? undefined : exactBigInt(of('first_id'), start),
    next: exactBigInt(of('next_block_start'), next),
    blockSize: exactInteger(of('block_size'), blockSize),
    step: exactInteger(of('step'), step),
    min: exactBigInt(of('min_id'), min),
    max: exactBigInt(of('max_id'), max),
    cycle: exactInteger(of('cycles'), cycle) !== 0,
    exhausted: exactInteger(of('exhausted'), exhausted) !== 0,
    generation: exactInteger(of('generation'), generation),
  };
  // Only another program can have written this. The same ids would be given out for ever.
  if (result.step === 0) throw new RangeError(`${of('step')} is 0`);
  return result;
}

const called = (name: string) => `sequence ${show(name)}`;

const firstOf = (row: unknown) => Object.values(row as object)[0] as unknown;
