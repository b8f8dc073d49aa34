import { refuse } from 'idsmith/internal';
import { type Borrowed, onPooledConnection } from 'idsmith/internal/stores';

/** Options of a statement, as `oracledb` names them. */
interface ExecuteOptions {
  readonly autoCommit: boolean;
  readonly maxRows: number;
}

/** The used part of a connection from a pool of the package `oracledb`. */
export interface OracleStoreConnection {
  execute(
    sql: string,
    binds: (string | null)[],
    options: ExecuteOptions,
  ): Promise<{ rows?: unknown[] | undefined; rowsAffected?: number | undefined }>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
  close(options?: { drop: boolean }): Promise<void>;
}

/** The used part of a `Pool` of the package `oracledb`. */
export interface OracleStorePool {
  getConnection(): Promise<OracleStoreConnection>;
}

/** The answer to a statement. */
interface Answer {
  readonly rows: unknown[];
  readonly changed: number;
}

/** Sends a statement. Values are text: Oracle converts it, and no driver rounds it. */
export type Ask = (sql: string, binds?: (string | null)[]) => Promise<Answer>;

/** The work of a transaction. `wait` is the longest wait for a lock, whole seconds. */
type Work<T> = (ask: Ask, wait: number) => Promise<T>;

/** Ways to use a pool, each within the time limit. */
export interface OracleSession {
  /** Reads. */
  readonly ask: Ask;
  /** Runs `work` and commits; a failure is a rollback. */
  transact<T>(work: Work<T>): Promise<T>;
}

/** Whatever the pool and the program have set: nothing is committed half-way, and no row is left out. */
const PLAIN: ExecuteOptions = { autoCommit: false, maxRows: 0 };

/**
 * Sends statements to a pool with a time limit, ms, which includes the wait for a connection.
 *
 * @throws InvalidOptionError when `pool` is no pool. A single connection would bring its own open transaction.
 */
export function oracleSession(pool: OracleStorePool, timeout: number): OracleSession {
  if (typeof pool?.getConnection !== 'function')
    refuse('pool', 'a Pool of the package oracledb, not a connection', pool);
  /** Connections on which not even a rollback worked. */
  const lost = new WeakSet<OracleStoreConnection>();

  const borrow = () => checkOut(pool, (connection) => lost.has(connection));

  function onConnection<T>(
    work: (connection: OracleStoreConnection, left: number) => Promise<T>,
  ): Promise<T> {
    return onPooledConnection(timeout, { borrow, run: work, isUseless: () => false });
  }

  return {
    ask: (sql, binds = []) => onConnection((connection) => send(connection, sql, binds)),
    transact: (work) =>
      onConnection(async (connection, left) => {
        try {
          const wait = Math.max(1, Math.floor((left * 0.8) / 1000));
          const result = await work((sql, binds = []) => send(connection, sql, binds), wait);
          await connection.commit();
          return result;
        } catch (error) {
          await connection.rollback().catch(() => lost.add(connection));
          throw error;
        }
      }),
  };
}

async function send(
  connection: OracleStoreConnection,
  sql: string,
  binds: (string | null)[],
): Promise<Answer> {
  const { rows, rowsAffected } = await connection.execute(sql, binds, PLAIN);
  return { rows: rows ?? [], changed: rowsAffected ?? 0 };
}

/** Lends a connection of a pool. A connection that cannot be given back is the pool's concern: the answer counts. */
export async function checkOut<C extends { close(options?: { drop: boolean }): Promise<void> }>(
  pool: { getConnection(): Promise<C> },
  isLost: (connection: C) => boolean = () => false,
): Promise<Borrowed<C>> {
  const connection = await pool.getConnection();
  const close = (drop: boolean) => void connection.close(drop ? { drop } : undefined).catch(() => {});
  return { connection, release: () => close(isLost(connection)), destroy: () => close(true) };
}
