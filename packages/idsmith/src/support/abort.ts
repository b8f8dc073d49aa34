import { refuse } from '../options.js';
import type { Timer } from './timer.js';

/** @throws InvalidOptionError unless the value is an AbortSignal or left out */
export function requireSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal !== undefined && typeof signal?.addEventListener !== 'function')
    refuse('signal', 'an AbortSignal', signal);
  return signal;
}

/**
 * The result of `promise`, unless the signal is aborted first. A later result is dropped.
 *
 * @throws the signal's reason when it is aborted
 */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const cancel = onAbort(signal, reject);
    promise.then(resolve, reject).finally(cancel);
  });
}

/**
 * Waits for `ms`. A pause in the background does not keep the process alive.
 *
 * @throws the signal's reason when it is aborted; the timer is cancelled
 */
export function pauseUnlessAborted(
  timer: Timer,
  ms: number,
  background: boolean,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancelTimer = timer.after(
      ms,
      () => {
        cancelSignal();
        resolve();
      },
      background,
    );
    const cancelSignal = onAbort(signal, (reason) => {
      cancelTimer();
      reject(reason);
    });
  });
}

/** Calls `fn` with the reason when the signal is aborted, at once if it is already. Returns a function that cancels the call. */
export function onAbort(signal: AbortSignal | undefined, fn: (reason: unknown) => void): () => void {
  if (signal === undefined) return () => {};
  const listener = () => fn(signal.reason);
  if (signal.aborted) listener();
  else signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}
