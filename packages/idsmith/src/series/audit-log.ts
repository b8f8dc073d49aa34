import { InvalidIdError, InvalidOptionError } from '../errors.js';
import type { SqlExecutor } from '../executor/port.js';
import { show } from '../options.js';
import { isMissingTable } from '../stores/sql/missing-table.js';
import { exactBigInt, exactInteger, plainText } from '../stores/sql/values.js';
import { databaseNow, seriesError } from './locked-counters.js';
import { DIALECTS } from './sql-dialect.js';

/** A number that was given out. */
export interface GivenNumber {
  /** The number as it was printed. */
  readonly text: string;
  readonly number: bigint;
  /** The time on the database's clock. */
  readonly at: Date;
  /** The time and the reason, if the number was voided. */
  readonly voided?: { readonly at: Date; readonly reason: string };
}

/** A number to be written into the log. */
interface NewEntry {
  readonly counter: string;
  readonly number: bigint;
  readonly text: string;
  readonly at: number;
}

const PAGE = 5000;

/** The statement that creates the log. */
function createLog({ dialect }: SqlExecutor): string {
  const { nameType, textType, tableOptions } = DIALECTS[dialect];
  return `CREATE TABLE IF NOT EXISTS id_series_log (counter ${nameType} NOT NULL, number BIGINT NOT NULL, printed ${textType} NOT NULL, given_at BIGINT NOT NULL, voided_at BIGINT, reason ${textType}, PRIMARY KEY (counter, number))${tableOptions}`;
}

/** The log of a database: a row of `id_series_log` for each number that was given out with `audit: true`. */
export class AuditLog {
  readonly #sql: SqlExecutor;

  constructor(sql: SqlExecutor) {
    this.#sql = sql;
  }

  /** Creates the table unless it exists. */
  async setUp(): Promise<void> {
    try {
      // `CREATE TABLE IF NOT EXISTS` needs the right to create even where the table exists, so look for the table first.
      await this.#sql.query('SELECT number FROM id_series_log WHERE 1 = 0');
    } catch (error) {
      if (!isMissingTable(error)) throw seriesError('looking for the log', error);
      // Of two who create it at once, PostgreSQL lets one fail. The look tells who is right.
      const failure = await this.#sql.query(createLog(this.#sql)).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if (failure !== undefined)
        await this.#send('creating the log', 'SELECT number FROM id_series_log WHERE 1 = 0');
    }
  }

  /** Writes a number into the log, in the transaction that has taken the number. */
  async add({ counter, number, text, at }: NewEntry): Promise<void> {
    const { text: name, integer, anyText, value } = DIALECTS[this.#sql.dialect];
    await this.#send(
      `logging the number ${show(text)}`,
      `INSERT INTO id_series_log (counter, number, printed, given_at)
        VALUES (${name(1)}, ${integer(2)}, ${anyText(3)}, ${integer(4)})`,
      [counter, String(number), value(text), String(at)],
    );
  }

  /** The numbers of a counter, in ascending order. */
  async list(counter: string): Promise<GivenNumber[]> {
    const { text, integer, asText, read } = DIALECTS[this.#sql.dialect];
    const all: GivenNumber[] = [];
    for (let after = -1n; ; ) {
      const rows = await this.#send(
        'reading the log',
        `SELECT ${asText('number')} AS number, ${read('printed')} AS printed, ${asText('given_at')} AS given,
            ${asText('voided_at')} AS voided, ${read('reason')} AS reason
          FROM id_series_log WHERE counter = ${text(1)} AND number > ${integer(2)} ORDER BY id_series_log.number LIMIT ${PAGE}`,
        [counter, String(after)],
      );
      all.push(...rows.map(entryOf));
      if (rows.length < PAGE) return all;
      after = all.at(-1)?.number as bigint;
    }
  }

  /**
   * Marks a number as voided.
   *
   * @throws InvalidIdError when the number was not given out
   * @throws InvalidOptionError when the number is voided already; time and reason stay
   */
  async void(
    counter: string,
    { number, text, reason }: { number: bigint; text: string; reason: string },
  ): Promise<void> {
    const { text: name, integer, anyText, value, asText, read, forUpdate } = DIALECTS[this.#sql.dialect];
    const [row] = await this.#send(
      'reading the log',
      `SELECT ${asText('voided_at')} AS voided, ${read('reason')} AS reason FROM id_series_log
        WHERE counter = ${name(1)} AND number = ${integer(2)}${forUpdate}`,
      [counter, String(number)],
    );
    if (row === undefined)
      throw new InvalidIdError(`${show(text)} was not given out, so there is nothing to void`);
    const [voided, before] = Object.values(row);
    if (voided !== null)
      throw new InvalidOptionError(
        `${show(text)} was voided at ${dateOf('voided_at', voided).toISOString()} because of ${show(plainText(before))}: it stays so`,
      );
    const now = await databaseNow(this.#sql);
    await this.#send(
      `voiding ${show(text)}`,
      `UPDATE id_series_log SET voided_at = ${integer(1)}, reason = ${anyText(2)}
        WHERE counter = ${name(3)} AND number = ${integer(4)}`,
      [String(now), value(reason), counter, String(number)],
    );
  }

  async #send(
    what: string,
    text: string,
    values: readonly string[] = [],
  ): Promise<Record<string, unknown>[]> {
    try {
      return await this.#sql.query(text, values);
    } catch (error) {
      throw seriesError(what, error, createLog(this.#sql));
    }
  }
}

function entryOf(row: Record<string, unknown>): GivenNumber {
  const [number, printed, at, voided, reason] = Object.values(row);
  return {
    text: plainText(printed),
    number: exactBigInt('number', number),
    at: dateOf('given_at', at),
    ...(voided !== null && { voided: { at: dateOf('voided_at', voided), reason: plainText(reason) } }),
  };
}

const dateOf = (column: string, value: unknown) => new Date(exactInteger(column, value));
