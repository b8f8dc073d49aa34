import { requireInteger } from '../options.js';
import { MAX_DELAY, systemTimer, type Timer } from './timer.js';

/** Settings of {@link withTimeout}. */
export interface TimeoutOptions {
  /** Default the runtime's timers. */
  readonly timer?: Timer;
  /** A timeout in the background does not keep the process alive. Default `false`. */
  readonly background?: boolean;
  /** Called when the time is over, for example to destroy a connection. */
  readonly onTimeout?: () => void;
  /** Makes the error of a timeout. Default an `Error` with the text `no answer within … ms`. */
  readonly error?: () => Error;
}

/**
 * The result of `promise`, if the promise settles within `ms`. A later result is dropped. A peer that has disappeared without
 * closing its connection would otherwise leave the caller waiting forever.
 *
 * @throws Error when the time is over: the one that `error` makes
 *
 * @example
 * const rows = await withTimeout(client.query(sql), 10_000);
 */
export function withTimeout<T>(promise: Promise<T>, ms: number, options: TimeoutOptions = {}): Promise<T> {
  const { timer = systemTimer, background = false, onTimeout, error = () => noAnswer(ms) } = options;
  return new Promise((resolve, reject) => {
    const expire = () => {
      onTimeout?.();
      reject(error());
    };
    const cancel = timer.after(ms, expire, background);
    promise.then(resolve, reject).finally(cancel);
  });
}

/** The error of a peer that did not answer in time, named as those of `AbortSignal.timeout`. */
export const noAnswer = (ms: number) =>
  Object.assign(new Error(`no answer within ${ms} ms`), { name: 'TimeoutError' });

/**
 * The option `timeout`, ms.
 *
 * @throws InvalidOptionError unless a timer can be set to the value
 */
export function requireTimeout(value: unknown, fallback: number): number {
  return requireInteger('timeout', value === undefined ? fallback : value, 1, MAX_DELAY);
}
