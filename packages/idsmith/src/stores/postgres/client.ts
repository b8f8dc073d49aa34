import type { SqlDriver } from '../../executor/driver.js';
import { postgresJs } from '../../executor/drivers.js';
import { pgLike } from '../../executor/pg.js';
import type { SqlAdapter, SqlValue } from '../../executor/port.js';
import type { DriverError } from '../../support/store-error.js';
import { driverOf, lenderOf } from '../sql/driver-of.js';
import { onPooledConnection } from '../sql/pooled.js';

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

/**
 * Sends a statement and gives its rows.
 *
 * @param before gives statements to send in front, in the same message, by the time until the caller gives up, ms
 */
export type RowsOf = (
  text: string,
  values?: readonly SqlValue[],
  before?: (left: number) => string,
) => Promise<readonly unknown[]>;

/** Sends statements with a time limit, ms, which includes the wait for a connection. */
export function queryWithTimeout(driver: SqlDriver, timeout: number): RowsOf {
  const borrow = lenderOf(driver);
  return (text, values = [], before = undefined) =>
    onPooledConnection(timeout, {
      borrow,
      run: ({ query }, left) => query(`${before?.(left) ?? ''}${text}`, values),
      isUseless: (error) => !isAnswer(error),
    });
}

/** Tells whether an error is the answer of the server to the statement. The connection is well then. */
function isAnswer(error: unknown): boolean {
  const { code } = (error ?? {}) as DriverError;
  // 57P01 and its neighbours: the server ends the connection.
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('57P');
}
