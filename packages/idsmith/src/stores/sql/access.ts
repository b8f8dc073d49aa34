import { IdError, StoreError } from '../../errors.js';
import type { SqlDriver } from '../../executor/driver.js';
import type { SqlExecutor, SqlValue } from '../../executor/port.js';
import { adapterTransactions } from './adapter-transactions.js';
import { onPooledConnection } from './pooled.js';

/** The way to the database of a store, for work that must be one transaction with the numbers it takes. */
export interface SqlAccess {
  /** Sends statements outside of transactions. */
  readonly outside: SqlExecutor;
  /** Runs `work` in a transaction of its own, and commits. An error rolls back. */
  transact<T>(work: (sql: SqlExecutor) => Promise<T>): Promise<T>;
}

const accesses = new WeakMap<object, SqlAccess>();

/** Remembers the access of a store. */
export function giveSqlAccess<T extends object>(store: T, access: SqlAccess | undefined): T {
  if (access !== undefined) accesses.set(store, access);
  return store;
}

/** The access of a store in an SQL database that can have a connection for a transaction; otherwise `undefined`. */
export const sqlAccessOf = (store: object): SqlAccess | undefined => accesses.get(store);

/** Sends a statement and gives its rows. */
type Send = (text: string, values: readonly SqlValue[]) => Promise<unknown>;

/** The differences between servers in {@link serverAccess}. */
interface ServerAccess {
  readonly timeout: number;
  /** Sends a statement outside of transactions. */
  outside: Send;
  /** The statements that begin a transaction. `left` is the time until the caller gives up, ms. */
  begin(left: number): readonly string[];
}

/**
 * The access to the database of a pool, or of a client that makes transactions itself. Others share a single connection, and their
 * statements would be in the transaction.
 */
export function serverAccess(
  driver: SqlDriver,
  { timeout, outside, begin }: ServerAccess,
): SqlAccess | undefined {
  const { dialect, borrow, isPool, transaction } = driver;
  const access = { outside: executorOf(dialect, outside, false) };
  if (transaction) return { ...access, transact: adapterTransactions(driver, timeout) };
  if (!isPool || borrow === undefined) return undefined;
  return {
    ...access,
    transact: (work) =>
      onPooledConnection(timeout, {
        borrow,
        run: ({ query }, left) => within(query, begin(left), () => work(executorOf(dialect, query, true))),
        isUseless: (error) => !(error instanceof IdError) || error instanceof StoreError,
      }),
  };
}

/** An executor of which is known whether it is inside a transaction. */
export function executorOf(dialect: SqlDriver['dialect'], send: Send, isInside: boolean): SqlExecutor {
  return {
    dialect,
    query: async (text, values = []) => (await send(text, values)) as Record<string, unknown>[],
    inTransaction: async () => isInside,
  };
}

/** Runs `work` between statements that begin and commit a transaction, on one connection. */
async function within<T>(send: Send, begin: readonly string[], work: () => Promise<T>): Promise<T> {
  for (const statement of begin) await send(statement, []);
  let result: T;
  try {
    result = await work();
  } catch (error) {
    // If this fails, the connection is broken, and the server rolls back. The first error tells more.
    await send('ROLLBACK', []).catch(() => undefined);
    throw error;
  }
  await send('COMMIT', []);
  return result;
}
