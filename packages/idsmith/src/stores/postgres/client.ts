import type { DriverError } from '../../support/store-error.js';
import { type Borrowed, noConnection, oneAtATime, onPooledConnection } from '../sql/pooled.js';

/** The part of a client that the store uses. A `Pool` or `Client` of `pg` has it. */
export interface PostgresClient {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[] }>;
  /** Only a pool of `pg` has this. */
  readonly totalCount?: number;
}

interface PgPool {
  connect(callback: (error: unknown, connection?: PgConnection) => void): void;
}

interface PgConnection extends PostgresClient {
  release(destroy?: boolean): void;
  on(event: 'error', listener: () => void): unknown;
  off(event: 'error', listener: () => void): unknown;
}

const ignore = () => {};

/**
 * Sends a statement and gives its rows.
 *
 * @param before gives statements to send in front, in the same message, by the time until the caller gives up, ms
 */
export type RowsOf = (
  text: string,
  values?: unknown[],
  before?: (left: number) => string,
) => Promise<unknown[]>;

/** Sends statements with a time limit, ms, which includes the wait for a connection. */
export function queryWithTimeout(client: PostgresClient, timeout: number): RowsOf {
  const borrow = borrowFrom(client, timeout);
  return (text, values = [], before = undefined) =>
    onPooledConnection(timeout, {
      borrow,
      run: async (connection, left) => {
        const answer = await connection.query(`${before?.(left) ?? ''}${text}`, values);
        // Several statements have several answers.
        return (Array.isArray(answer) ? (answer.at(-1) as typeof answer) : answer).rows;
      },
      isUseless: (error) => !isAnswer(error),
    });
}

function borrowFrom(client: PostgresClient, timeout: number): () => Promise<Borrowed<PostgresClient>> {
  const canConnect = typeof (client as Partial<PgPool>)?.connect === 'function';
  if (canConnect && client.totalCount !== undefined)
    return () => fromPool(client as unknown as PgPool, timeout);
  if (canConnect) return oneAtATime(client);
  return async () => ({ connection: client, release() {}, destroy() {} });
}

async function fromPool(pool: PgPool, timeout: number): Promise<Borrowed<PostgresClient>> {
  try {
    const connection = await checkOut(pool);
    const release = () => {
      connection.off('error', ignore);
      connection.release();
    };
    return { connection, release, destroy: () => connection.release(true) };
  } catch (error) {
    // The pool has a time limit of its own, `connectionTimeoutMillis`.
    if (/^timeout exceeded/.test((error as Error)?.message)) throw noConnection(timeout, error);
    throw error;
  }
}

/**
 * Takes a connection and listens to its errors. A pool listens only to connections that nobody has. The statement on the connection
 * gets the error, too.
 *
 * A promise of the pool would come too late. When one chunk of bytes says that the session is ready and that the server ends
 * it, the error follows the callback at once, and an error without a listener ends the process.
 */
function checkOut(pool: PgPool): Promise<PgConnection> {
  return new Promise((resolve, reject) => {
    pool.connect((error, connection) => {
      if (connection === undefined) return reject(error);
      connection.on('error', ignore);
      resolve(connection);
    });
  });
}

/** Tells whether an error is the answer of the server to the statement. The connection is well then. */
function isAnswer(error: unknown): boolean {
  const { code } = (error ?? {}) as DriverError;
  // 57P01 and its neighbours: the server ends the connection.
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !code.startsWith('57P');
}
