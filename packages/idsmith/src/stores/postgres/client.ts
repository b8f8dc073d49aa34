import { withTimeout } from '../../support/timeout.js';

/** The part of a client that the store uses. A `Pool` or `Client` of `pg` has it. */
export interface PostgresClient {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[] }>;
  /** Only a pool of `pg` has this. */
  readonly totalCount?: number;
}

interface PgPool {
  query(query: { text: string; values: unknown[]; query_timeout: number }): Promise<{ rows: unknown[] }>;
}

/** Sends a statement and gives its rows. */
export type RowsOf = (text: string, values?: unknown[]) => Promise<unknown[]>;

/** Sends statements with a time limit, ms. */
export function queryWithTimeout(client: PostgresClient, timeout: number): RowsOf {
  // A pool that knows the limit closes a connection that exceeds it, and opens another when one is needed.
  const query = (text: string, values: unknown[]) =>
    client.totalCount === undefined
      ? client.query(text, values)
      : (client as unknown as PgPool).query({ text, values, query_timeout: timeout });
  return async (text, values = []) => (await withTimeout(query(text, values), timeout)).rows;
}
