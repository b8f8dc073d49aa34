import { IdError, StoreError } from '../../errors.js';
import type { LeaseRecord } from '../../lease/port.js';
import { requireInteger, requireKnown } from '../../options.js';

/** About five seconds in all: longer than any ordinary writer holds its locks, shorter than a lease lasts. */
const MAX_TRIES = 20;
const LONGEST_PAUSE = 250;

// The longest that a timer can be set to.
const MAX_MS = 2 ** 31 - 1;

/** What differs between databases in {@link sqlRunner}. */
interface SqlRunnerOptions {
  /** The store, as messages call it. */
  readonly name: string;
  /** Makes the tables, if they are not there. Runs before the first operation, and again only if it failed. */
  setUp(): Promise<void> | void;
  /** Whether a statement that failed so certainly had no effect, and may succeed when it is repeated. */
  isTransient(error: DriverError): boolean;
}

/** What drivers add to their errors, each in its own way. */
export interface DriverError {
  readonly message?: string;
  readonly code?: unknown;
  readonly errno?: unknown;
  readonly errcode?: unknown;
  readonly rawCode?: unknown;
}

/** Runs an operation of a store, named for messages. */
export type SqlRun = <T>(operation: string, statement: () => Promise<T> | T) => Promise<T>;

/**
 * Wraps the statements of a store: the first one waits for the set-up, a transient failure is repeated, and any other
 * becomes a `StoreError`.
 */
export function sqlRunner({ name, setUp, isTransient }: SqlRunnerOptions): SqlRun {
  let ready: Promise<void> | undefined;

  async function persist<T>(work: () => Promise<T> | T): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await work();
      } catch (error) {
        if (tries === MAX_TRIES || !isTransient((error ?? {}) as DriverError)) throw error;
        // Jitter, or those who met here would meet again.
        const pause = Math.min(LONGEST_PAUSE, 5 * 2 ** tries) * (0.5 + Math.random() / 2);
        await new Promise((resolve) => setTimeout(resolve, pause));
      }
    }
  }

  return async (operation, statement) => {
    try {
      ready ??= persist(setUp).catch((error) => {
        ready = undefined;
        throw error;
      });
      await ready;
      return await persist(statement);
    } catch (error) {
      throw storeError(`${name} store: ${operation}`, error);
    }
  };
}

/**
 * The answer of a server, if it comes within so many ms. A connection of which the other end has gone without a word would
 * never give one.
 *
 * @param giveUp called when it is late
 */
export async function inTime<T>(timeout: number, answer: Promise<T>, giveUp?: () => void): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      giveUp?.();
      reject(new Error(`no answer within ${timeout} ms`));
    }, timeout);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** How a store on a server behaves. */
export interface SqlStoreOptions {
  /** How long a statement may take, ms, a wait for a connection or lock included. Default 10,000. */
  readonly timeout?: number;
}

/** The `timeout` of a store on a server, whose only option it is. */
export function requireTimeout(options: SqlStoreOptions): number {
  const { timeout = 10_000 } = requireKnown('options', options, ['timeout']);
  return requireInteger('timeout', timeout, 1, MAX_MS);
}

/** The `StoreError` for what a driver has thrown; one of our own errors stays what it is. */
export function storeError(what: string, error: unknown): IdError {
  if (error instanceof IdError) return error;
  const { message, code } = (error ?? {}) as DriverError;
  // Node leaves the message empty when every address of a host refused; drivers may quote a URL.
  const reason = (message || String(code ?? error)).replace(/:\/\/[^\s@/]*@/g, '://***@');
  return new StoreError(`${what} failed: ${reason}`, { cause: error });
}

/** A record of a row whose columns are in the order of the record's own fields, whatever their names and types. */
export function leaseRecord(row: unknown): LeaseRecord {
  const [id, owner, epoch, fence, expiresAt, label] = Object.values(row as object);
  return {
    id: exactInteger('id', id),
    owner: owner === null ? null : plainText(owner),
    epoch: exactInteger('epoch', epoch),
    fence: exactInteger('fence', fence),
    expiresAt: exactInteger('expires_at', expiresAt),
    label: plainText(label),
  };
}

/** The first column of the first row, a whole number. */
export function onlyInteger(rows: readonly unknown[]): number {
  return exactInteger('the answer', Object.values(rows[0] as object)[0]);
}

// Columns are selected as text, so that no driver rounds them; what a driver makes of text depends on its settings.

/** A column that must be a whole number within ±(2^53 − 1). */
export function exactInteger(column: string, value: unknown): number {
  const text = plainText(value);
  const number = WHOLE.test(text) ? Number(text) : Number.NaN;
  if (Number.isSafeInteger(number)) return number;
  throw new RangeError(`${column} is ${text}, not a whole number within ±(2^53 − 1)`);
}

/** A column that must be a whole number. */
export function exactBigInt(column: string, value: unknown): bigint {
  const text = plainText(value);
  if (WHOLE.test(text)) return BigInt(text);
  throw new RangeError(`${column} is ${text}, not a whole number`);
}

const WHOLE = /^-?\d+$/;

/** Text, which some drivers give as its bytes. */
export function plainText(value: unknown): string {
  return value instanceof Uint8Array
    ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(value)
    : String(value);
}
