import type { SqlExecutor } from '../drivers/port.js';
import { InvalidIdError, InvalidOptionError } from '../errors.js';
import { show } from '../options.js';
import { DIALECTS, Values } from '../stores/sql/dialect.js';
import { databaseNow } from '../stores/sql/locked-rows.js';
import { isMissingTable, statementError } from '../stores/sql/session.js';
import { exactBigInt, exactInteger, plainText } from '../stores/sql/values.js';

/** A number that was given out. */
export interface GivenNumber {
  /** The number as it was printed. */
  readonly text: string;
  readonly number: bigint;
  /** The time on the database's clock. */
  readonly at: Date;
  /** The time and the reason, if the number was voided. */
  readonly voided?: Voided;
}

interface Voided {
  readonly at: Date;
  readonly reason: string;
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
  const { name, text, options } = DIALECTS[dialect].types;
  return `CREATE TABLE IF NOT EXISTS id_series_log (counter ${name} NOT NULL, number BIGINT NOT NULL, printed ${text} NOT NULL, given_at BIGINT NOT NULL, voided_at BIGINT, reason ${text}, PRIMARY KEY (counter, number))${options}`;
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
      if (!isMissingTable(error)) throw statementError('series: looking for the log', error);
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
    const values = this.#values();
    const row = [values.name(counter), values.integer(number), values.text(text), values.integer(at)];
    await this.#send(
      `logging the number ${show(text)}`,
      `INSERT INTO id_series_log (counter, number, printed, given_at) VALUES (${row.join(', ')})`,
      values,
    );
  }

  /** The numbers of a counter, in ascending order. */
  async list(counter: string): Promise<GivenNumber[]> {
    const { asText, decoded } = DIALECTS[this.#sql.dialect];
    const all: GivenNumber[] = [];
    for (let after = -1n; ; ) {
      const values = this.#values();
      const rows = await this.#send(
        'reading the log',
        `SELECT ${asText('number')} AS number, ${decoded('printed')} AS printed, ${asText('given_at')} AS given,
            ${asText('voided_at')} AS voided, ${decoded('reason')} AS reason
          FROM id_series_log WHERE counter = ${values.name(counter)} AND number > ${values.integer(after)}
          ORDER BY id_series_log.number LIMIT ${PAGE}`,
        values,
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
    let voided = await this.#voided(counter, number, text);
    if (voided === undefined) {
      const now = await databaseNow(this.#sql, 'series');
      const values = this.#values();
      await this.#send(
        `voiding ${show(text)}`,
        `UPDATE id_series_log SET voided_at = ${values.integer(now)}, reason = ${values.text(reason)}
          WHERE counter = ${values.name(counter)} AND number = ${values.integer(number)} AND voided_at IS NULL`,
        values,
      );
      voided = (await this.#voided(counter, number, text)) as Voided;
      // Another call in the same transaction may have been quicker.
      if (voided.at.getTime() === now && voided.reason === reason) return;
    }
    throw new InvalidOptionError(
      `${show(text)} was voided at ${voided.at.toISOString()} because of ${show(voided.reason)}: it stays so`,
    );
  }

  /** The time and the reason of a number that is voided, whose row stays locked. */
  async #voided(counter: string, number: bigint, text: string): Promise<Voided | undefined> {
    const { asText, decoded, forUpdate } = DIALECTS[this.#sql.dialect];
    const values = this.#values();
    const [row] = await this.#send(
      'reading the log',
      `SELECT ${asText('voided_at')} AS voided, ${decoded('reason')} AS reason FROM id_series_log
        WHERE counter = ${values.name(counter)} AND number = ${values.integer(number)}${forUpdate}`,
      values,
    );
    if (row === undefined)
      throw new InvalidIdError(`${show(text)} was not given out, so there is nothing to void`);
    const [at, reason] = Object.values(row);
    return at === null ? undefined : { at: dateOf('voided_at', at), reason: plainText(reason) };
  }

  #values(): Values {
    return new Values(DIALECTS[this.#sql.dialect]);
  }

  async #send(what: string, text: string, values?: Values): Promise<Record<string, unknown>[]> {
    try {
      return await this.#sql.query(text, values?.all);
    } catch (error) {
      throw statementError(`series: ${what}`, error, createLog(this.#sql));
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
