import { StoreError } from '../../errors.js';
import type { Borrowed } from '../../executor/driver.js';
import { withTimeout } from '../../support/timeout.js';

/** The shortest time that is worth starting a statement, ms. */
const SHORTEST = 50;

/** The way to run a statement on a connection of a pool. */
interface PooledWork<C, T> {
  borrow(): Promise<Borrowed<C>>;
  /** Runs the statement. `left` is the time until the caller gives up, ms. */
  run(connection: C, left: number): Promise<T>;
  /** Tells whether a connection with this error is of no more use. */
  isUseless(error: unknown): boolean;
}

/**
 * Runs a statement within `timeout` ms, the wait for a connection included. A statement whose connection comes too late is never
 * run, and a connection that does not answer leaves the pool.
 *
 * @throws StoreError when no connection was free in time
 * @throws Error when there was no answer in time
 */
export function onPooledConnection<C, T>(timeout: number, work: PooledWork<C, T>): Promise<T> {
  const deadline = performance.now() + timeout;
  let isLate = false;
  let borrowed: Borrowed<C> | undefined;
  const giveBack = (how: 'release' | 'destroy') => {
    const held = borrowed;
    borrowed = undefined;
    held?.[how]();
  };
  const ask = async (): Promise<T> => {
    borrowed = await work.borrow().catch((error) => {
      // The pool of pg has a time limit of its own, `connectionTimeoutMillis`.
      throw /^timeout exceeded/.test(error?.message) ? noConnection(timeout, error) : error;
    });
    try {
      const left = deadline - performance.now();
      // The caller has already got its error, or will get it before the statement can end.
      if (isLate || left < Math.min(SHORTEST, timeout / 4)) throw noConnection(timeout);
      return await work.run(borrowed.connection, left);
    } catch (error) {
      if (work.isUseless(error)) giveBack('destroy');
      throw error;
    } finally {
      giveBack('release');
    }
  };
  let wasConnected = false;
  return withTimeout(ask(), timeout, {
    onTimeout: () => {
      isLate = true;
      wasConnected = borrowed !== undefined;
      giveBack('destroy');
    },
    error: () => (wasConnected ? new Error(`no answer within ${timeout} ms`) : noConnection(timeout)),
  });
}

/** The error for a wait for a connection that was too long. */
function noConnection(timeout: number, cause?: unknown): StoreError {
  return new StoreError(
    `no connection was free within ${timeout} ms: the server does not answer, or all connections of the pool are in use. ` +
      'If the transactions that use them wait for this call, give the store a pool of its own',
    cause === undefined ? {} : { cause },
  );
}
