import type { SqlDriver } from '../../drivers/driver.js';
import type { SqlAdapter, SqlValue } from '../../drivers/port.js';
import { pgLike, postgresJs } from '../../drivers/postgres.js';
import { askTransaction } from '../../drivers/transaction.js';
import { StoreError } from '../../errors.js';
import { show } from '../../options.js';
import { OneSuccess } from '../../support/single-flight.js';
import type { DriverError } from '../../support/store-error.js';
import { postgres } from '../sql/dialect.js';
import { driverOf, executorOf, ServerSession } from '../sql/session.js';
import { plainText } from '../sql/values.js';

/** The part of a client that the store uses. A `Pool` or `Client` of `pg` has it. */
export interface PostgresClient {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[] }>;
  /** Only a pool of `pg` has this. */
  readonly totalCount?: number;
}

/** The part of a client of `postgres` (postgres.js) that the store uses. */
export interface PostgresJsClient {
  unsafe(text: string, values?: never[]): PromiseLike<unknown>;
}

/**
 * The driver of a client.
 *
 * @throws InvalidOptionError when the client has no method that the store knows
 */
export const postgresDriver = (client: PostgresClient | PostgresJsClient | SqlAdapter): SqlDriver =>
  driverOf(
    client,
    'postgres',
    [pgLike, postgresJs],
    'a Pool or Client of pg, the sql of postgres.js, or an adapter',
  );

const OUTSIDE_TRANSACTION = postgres.outsideTransaction;

const PLACE = `CASE WHEN ${OUTSIDE_TRANSACTION} THEN 'outside' ELSE 'inside' END`;

// Where the default isolation is stricter, an update that meets another one would fail and have to be repeated. This statement
// must be the first of a transaction. Inside somebody's transaction it fails, or it has weakened that transaction, which must
// not go on then: a text that is no number ends the transaction.
const READ_COMMITTED = 'SET TRANSACTION ISOLATION LEVEL READ COMMITTED; ';
const PLACE_OR_END = `CASE WHEN ${OUTSIDE_TRANSACTION} THEN 'outside'
  ELSE CAST(CAST(current_setting('transaction_isolation') AS integer) AS text) END`;
/** active_sql_transaction, invalid_text_representation */
const INSIDE: readonly unknown[] = ['25001', '22P02'];

const SYNTAX_ERROR = '42601';
const SERIALIZATION_FAILURE = '40001';

/**
 * Lets the server acknowledge the transaction only when it is written, whatever the default is: a number that was given out must outlive a
 * crash. With a synchronous standby, the standby has it, too. A setting is changed only where it must be: each change costs as much as all
 * other conditions of a statement together.
 */
const DURABLE = `CASE WHEN current_setting('synchronous_commit') IN ('off', 'local')
  THEN set_config('synchronous_commit', 'on', true) END`;

/**
 * The server's own limits for the next statement of the message, somewhat shorter than the caller's. So a statement ends with
 * an answer, and does not wait for a lock after its caller has gone. They hold until the end of the statement's transaction, and
 * leave somebody else's transaction as it is.
 */
const limits = (left: number) =>
  `SELECT set_config('lock_timeout', '${Math.ceil(left * 0.8)}', true),
    set_config('statement_timeout', '${Math.ceil(left * 0.9)}', true), ${DURABLE} WHERE ${OUTSIDE_TRANSACTION}; `;

/** serialization_failure, deadlock_detected: the server has rolled the statement back. */
const ROLLED_BACK: readonly unknown[] = [SERIALIZATION_FAILURE, '40P01'];

/** A PostgreSQL server as a store uses it: runs changes so that nobody else's rollback can undo them. */
export class PostgresSession extends ServerSession {
  /** True if the driver sends a statement without values as one message. Only such a message may hold two statements. */
  readonly #sendsAlone = new OneSuccess<boolean>();
  /** Changes with their values as literals, by their list of values: a change that is sent often is the same statement each time. */
  readonly #literals = new WeakMap<readonly SqlValue[], string>();
  /** True when transactions are stricter than READ COMMITTED by default. */
  #isStrict = false;

  async prepare(): Promise<void> {
    if (this.isAdapter) return this.requireNoTransaction();
    if (!(await this.#learn())) return;
    const isolation = await this.onConnection(async ({ query }) => {
      const [row] = await query(
        `SELECT ${PLACE} AS place, current_setting('default_transaction_isolation') AS isolation`,
        [],
      );
      const [place, level] = Object.values(row as object).map(plainText);
      if (place !== 'outside') throw await insideError(query);
      return level;
    });
    this.#isStrict = isolation !== 'read committed' && isolation !== 'read uncommitted';
  }

  /** @param before gives statements to send in front, in the same message, by the time until the caller gives up, ms */
  ask(
    text: string,
    values: readonly SqlValue[] = [],
    before?: (left: number) => string,
  ): Promise<readonly unknown[]> {
    return this.onConnection(({ query }, left) => query(`${before?.(left) ?? ''}${text}`, values));
  }

  protected async send(sql: string, values: readonly SqlValue[]): Promise<readonly unknown[]> {
    const isChange = sql.includes(OUTSIDE_TRANSACTION);
    if (this.isAdapter)
      return isChange ? this.transact(({ query }) => query(unguarded(sql), values)) : this.ask(sql, values);
    if (!(await this.#learn())) return this.ask(unguarded(sql), values);
    return isChange ? this.#change(sql, values) : this.ask(withLiterals(sql, values), [], limits);
  }

  protected begin(left: number): readonly string[] {
    return [
      'BEGIN ISOLATION LEVEL READ COMMITTED',
      `SET LOCAL statement_timeout = ${Math.ceil(left * 0.9)}`,
      `SELECT ${DURABLE}`,
    ];
  }

  protected isTransient({ code }: DriverError): boolean {
    return ROLLED_BACK.includes(code);
  }

  /** An answer of the server to the statement leaves the connection well. */
  protected isUseless(error: unknown): boolean {
    const { code } = (error ?? {}) as DriverError;
    // 57P01 and its neighbours: the server ends the connection.
    return typeof code !== 'string' || !/^[0-9A-Z]{5}$/.test(code) || code.startsWith('57P');
  }

  #learn(): Promise<boolean> {
    return this.#sendsAlone.run(async () => {
      try {
        await this.ask('SELECT 1; SELECT 1');
        return true;
      } catch (error) {
        if ((error as DriverError).code === SYNTAX_ERROR) return false;
        throw error;
      }
    });
  }

  /**
   * Runs a statement that has {@link OUTSIDE_TRANSACTION} among its conditions, at READ COMMITTED. Gives the rows of its `RETURNING`,
   * which is one column.
   *
   * @throws StoreError inside a transaction; the statement has changed nothing there
   */
  async #change(sql: string, values: readonly SqlValue[]): Promise<unknown[]> {
    const isStrict = this.#isStrict;
    const literal = this.#literals.get(values) ?? withLiterals(sql, values);
    this.#literals.set(values, literal);
    const change = `WITH changed AS (${literal})
      SELECT (SELECT * FROM changed) AS answer, ${isStrict ? PLACE_OR_END : PLACE} AS place`;
    return this.onConnection(async ({ query }, left) => {
      try {
        const [row] = await query((isStrict ? READ_COMMITTED : '') + limits(left) + change, []);
        const [answer, place] = Object.values(row as object);
        if (plainText(place) !== 'outside') throw await insideError(query);
        return answer === null ? [] : [[answer]];
      } catch (error) {
        const { code } = (error ?? {}) as DriverError;
        if (code === SERIALIZATION_FAILURE) this.#isStrict = true;
        if (isStrict && INSIDE.includes(code)) throw await insideError(query, error);
        throw error;
      }
    });
  }
}

const unguarded = (text: string) => text.replaceAll(OUTSIDE_TRANSACTION, 'TRUE');

/**
 * The statement with its values in the place of `$1`, `$2` …
 *
 * @throws RangeError when a value has a NUL, which text in PostgreSQL cannot have
 */
export function withLiterals(text: string, values: readonly unknown[]): string {
  return text.replace(/\$(\d+)/g, (_place, n) => literal(values[Number(n) - 1]));
}

/** A value as an SQL literal. The literal takes the type that its place asks for, and is safe with any rule for backslashes. */
function literal(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  const text = String(value);
  if (text.includes('\0')) throw new RangeError('text must not have a NUL character');
  return `E'${text.replace(/['\\]/g, (character) => character + character)}'`;
}

/**
 * The error for a connection whose two timestamps differ. Asks a second way, on the same connection, before anybody is blamed: some servers
 * that speak the protocol of PostgreSQL read the two timestamps from two clocks.
 */
async function insideError(query: SqlDriver['query'], cause?: unknown): Promise<StoreError> {
  const inside =
    'postgres store: the connection is inside an open transaction, whose rollback would undo the change and repeat ids. ' +
    'End every transaction before its connection goes back to the pool, or give the store a pool of its own';
  const options = { reason: 'IN_TRANSACTION', ...(cause !== undefined && { cause }) } as const;
  try {
    const { query: ask } = executorOf('postgres', query, false);
    if ((await askTransaction.postgres(ask)) !== undefined) return new StoreError(inside, options);
    const [row] = await query('SELECT version() AS version', []);
    const version = plainText(Object.values(row as object)[0]);
    return new StoreError(
      'postgres store: transaction_timestamp() and statement_timestamp() differ, although no transaction is open. Either somebody else ' +
        `uses this connection and has just ended a transaction, or the server is not PostgreSQL; it says ${show(version)}. Give the store ` +
        'a pool of connections to PostgreSQL, or an adapter with transaction(): then the store asks in another way',
      options,
    );
  } catch {
    // A transaction that has failed answers nothing more.
    return new StoreError(inside, options);
  }
}
