import { type Backoff, backoff } from '../../support/backoff.js';
import { type DriverError, storeError } from '../../support/store-error.js';
import { pause, systemTimer } from '../../support/timer.js';

/** Longer than an ordinary writer holds its locks, shorter than a lease lasts, ms. */
const PATIENCE = 5000;
const BACKOFF = { unit: 5, longest: 250 };

/** The differences between databases in {@link sqlRunner}. */
interface SqlRunnerOptions {
  /** The store's name in messages. */
  readonly name: string;
  /** The address of the server, for messages, if it is known. */
  readonly at?: string | undefined;
  /** Makes missing tables. Runs before the first operation, and again only after a failure. */
  setUp(): Promise<void> | void;
  /** Tells whether a statement that failed with this error had no effect and may succeed when it is repeated. */
  isTransient(error: DriverError): boolean;
  /** The time for which transient failures are repeated, ms. Default five seconds. */
  readonly patience?: number | undefined;
  /** The pauses between the tries. */
  readonly pauses?: Backoff;
}

/** Runs an operation of a store. The operation is named in messages. */
export type SqlRun = <T>(operation: string, statement: () => Promise<T> | T) => Promise<T>;

/**
 * Wraps the statements of a store. The first statement waits for the set-up. A transient failure is repeated. Any other
 * failure becomes a `StoreError`.
 */
export function sqlRunner(options: SqlRunnerOptions): SqlRun {
  const { name, at, setUp, isTransient, patience = PATIENCE, pauses = BACKOFF } = options;
  const place = at === undefined ? '' : ` at ${at}`;
  let ready: Promise<void> | undefined;

  async function retry<T>(work: () => Promise<T> | T): Promise<T> {
    const end = performance.now() + patience;
    for (let tries = 1; ; tries++) {
      try {
        return await work();
      } catch (error) {
        if (performance.now() > end || !isTransient((error ?? {}) as DriverError)) throw error;
        await pause(systemTimer, backoff(tries, pauses), false);
      }
    }
  }

  return async (operation, statement) => {
    try {
      ready ??= retry(setUp).catch((error) => {
        ready = undefined;
        throw error;
      });
      await ready;
      return await retry(statement);
    } catch (error) {
      throw storeError(`${name} store: ${operation}${place}`, error);
    }
  };
}
