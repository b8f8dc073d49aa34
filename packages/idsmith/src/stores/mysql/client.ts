import { StoreError } from '../../errors.js';
import type { DriverError } from '../../support/store-error.js';
import { type Borrowed, oneAtATime, onPooledConnection } from '../sql/pooled.js';
import { requireCommitted } from './transaction-guard.js';

/** The part of a client that the store uses. A pool or connection of `mysql2/promise` has it. */
export interface MysqlClient {
  query(sql: string, values: unknown[]): Promise<[result: unknown, fields: unknown]>;
  /** Only a pool has this. The store takes a connection that does not answer out of the pool. */
  getConnection?(): Promise<PooledConnection>;
}

interface PooledConnection extends MysqlClient {
  release(): void;
  destroy(): void;
}

/** Sends a statement and gives the driver's result. */
export type Query = (sql: string, values?: unknown[]) => Promise<unknown>;

/** ER_OPTION_PREVENTS_STATEMENT, ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, ER_READ_ONLY_MODE */
const READ_ONLY: readonly unknown[] = [1290, 1792, 1836];

/**
 * Sends statements with a time limit, ms, which includes the wait for a connection. Refuses changes inside an open transaction.
 */
export function queryWithTimeout(client: MysqlClient, timeout: number): Query {
  const borrow = borrowFrom(client);
  return (sql, values = []) =>
    onPooledConnection(timeout, {
      borrow,
      run: async (connection, left) => {
        const [result] = await connection.query(limited(sql, left), values);
        requireCommitted(result);
        return result;
      },
      isUseless,
    });
}

function borrowFrom(client: MysqlClient): () => Promise<Borrowed<MysqlClient>> {
  if (typeof client?.getConnection === 'function')
    return async () => {
      const connection = await (client as Required<MysqlClient>).getConnection();
      return { connection, release: () => connection.release(), destroy: () => connection.destroy() };
    };
  // A single connection keeps a queue of its own.
  if ('beginTransaction' in (client ?? {})) return oneAtATime(client);
  return async () => ({ connection: client, release() {}, destroy() {} });
}

/**
 * A change with limits of the server's own, somewhat shorter than the caller's. So it ends with an answer, and does not wait for a
 * lock after its caller has gone. MySQL skips the comment.
 */
function limited(sql: string, left: number): string {
  if (!/^(UPDATE|DELETE|INSERT) /.test(sql)) return sql;
  const wait = Math.max(1, Math.floor((left * 0.8) / 1000));
  const time = ((left * 0.9) / 1000).toFixed(3);
  return `/*M!100300 SET STATEMENT innodb_lock_wait_timeout = ${wait}, max_statement_time = ${time} FOR */ ${sql}`;
}

/**
 * Tells whether a connection with this error is of no more use. When the server has become a replica, a new connection may find
 * the primary. When the connection is inside a transaction, its end undoes a change that must not count.
 */
function isUseless(error: unknown): boolean {
  return READ_ONLY.includes((error as DriverError).errno) || error instanceof StoreError;
}
