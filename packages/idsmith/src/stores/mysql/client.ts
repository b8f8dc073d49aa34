import { StoreError } from '../../errors.js';
import type { DriverError } from '../../support/store-error.js';
import { withTimeout } from '../../support/timeout.js';
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

/** Sends statements with a time limit, ms, and refuses changes inside an open transaction. */
export function queryWithTimeout(client: MysqlClient, timeout: number): Query {
  return (sql, values = []) => {
    let connection: PooledConnection | undefined;
    let isLate = false;
    const ask = async () => {
      connection = await client.getConnection?.();
      try {
        // The caller has already got its error.
        if (isLate) return undefined;
        const [result] = await (connection ?? client).query(sql, values);
        requireCommitted(result);
        return result;
      } catch (error) {
        if (isUseless(error)) connection?.destroy();
        throw error;
      } finally {
        connection?.release();
      }
    };
    const onTimeout = () => {
      isLate = true;
      connection?.destroy();
    };
    return withTimeout(ask(), timeout, { onTimeout });
  };
}

/**
 * Tells whether a connection with this error is of no more use. When the server has become a replica, a new connection may find
 * the primary. When the connection is inside a transaction, its end undoes a change that must not count.
 */
function isUseless(error: unknown): boolean {
  return READ_ONLY.includes((error as DriverError).errno) || error instanceof StoreError;
}
