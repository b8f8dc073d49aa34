import { bytesToHex } from '../../encoding/hex.js';
import { StoreError } from '../../errors.js';
import type { SqlChange, SqlDriver } from '../../executor/driver.js';
import { mysqlLike } from '../../executor/mysql2.js';
import type { SqlAdapter, SqlValue } from '../../executor/port.js';
import type { DriverError } from '../../support/store-error.js';
import { driverOf, lenderOf } from '../sql/driver-of.js';
import { onPooledConnection } from '../sql/pooled.js';
import { requireCommitted } from './transaction-guard.js';

/** The part of a client that the store uses. A pool or connection of `mysql2/promise` has it. */
export interface MysqlClient {
  query(sql: string, values: unknown[]): Promise<[result: unknown, fields: unknown]>;
  /** Only a pool has this. The store takes a connection that does not answer out of the pool. */
  getConnection?(): Promise<PooledConnection>;
}

/** A pool or connection of `mysql2`, which works with callbacks and has another face with promises. */
export interface MysqlCallbackClient {
  promise(): MysqlClient;
}

interface PooledConnection extends MysqlClient {
  release(): void;
  destroy(): void;
}

/**
 * The driver of a client.
 *
 * @throws InvalidOptionError when the client has no method that the store knows
 */
export const mysqlDriver = (client: MysqlClient | MysqlCallbackClient | SqlAdapter): SqlDriver =>
  driverOf(client, 'mysql', [mysqlLike], 'a pool or connection of mysql2, or an adapter');

/** Sends a statement and gives its rows. */
export type Query = (sql: string, values?: readonly SqlValue[]) => Promise<readonly unknown[]>;

/** ER_OPTION_PREVENTS_STATEMENT, ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, ER_READ_ONLY_MODE */
const READ_ONLY: readonly unknown[] = [1290, 1792, 1836];

/**
 * Sends statements with a time limit, ms, which includes the wait for a connection. Gives the rows of a query or the outcome of a
 * change, and refuses changes inside an open transaction.
 */
export function sendWithTimeout(driver: SqlDriver, timeout: number) {
  const borrow = lenderOf(driver);
  return (sql: string, values: readonly SqlValue[] = []): Promise<readonly unknown[] | SqlChange> =>
    onPooledConnection(timeout, {
      borrow,
      run: async ({ answer, query }, left) => {
        const given = await (answer ?? query)(limited(sql, left), values);
        requireCommitted(given);
        return given;
      },
      isUseless,
    });
}

/**
 * A statement with limits of the server's own, somewhat shorter than the caller's. So it ends with an answer, and does not wait
 * for a lock after its caller has gone. MariaDB limits changes, and MySQL limits SELECTs: each skips the other's comment.
 */
function limited(sql: string, left: number): string {
  const ms = Math.max(1, Math.floor(left * 0.9));
  if (sql.startsWith('SELECT '))
    return `SELECT /*+ MAX_EXECUTION_TIME(${ms}) */ ${sql.slice('SELECT '.length)}`;
  if (!/^(UPDATE|DELETE|INSERT) /.test(sql)) return sql;
  const time = (ms / 1000).toFixed(3);
  return `/*M!100300 SET STATEMENT innodb_lock_wait_timeout = ${lockWait(left)}, max_statement_time = ${time} FOR */ ${sql}`;
}

/** The longest wait for a row lock within this time, in the whole seconds that the server takes. */
export function lockWait(ms: number): number {
  return Math.max(1, Math.floor((ms * 0.8) / 1000));
}

/**
 * Tells whether a connection with this error is of no more use. When the server has become a replica, a new connection may find
 * the primary. When the connection is inside a transaction, its end undoes a change that must not count.
 */
function isUseless(error: unknown): boolean {
  return READ_ONLY.includes((error as DriverError).errno) || error instanceof StoreError;
}

/** Text as the digits of its bytes, for `UNHEX` or `X'…'`: no character set and no quoting rule changes them. */
export const hexOf = (text: string) => bytesToHex(new TextEncoder().encode(text));
