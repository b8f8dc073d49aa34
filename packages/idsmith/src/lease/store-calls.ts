import { wholeMs } from '../clock.js';
import { ClockError, StoreError } from '../errors.js';
import { withTimeout } from '../support/timeout.js';
import type { LeaseSettings } from './options.js';
import type { Page } from './pages.js';
import type { LeaseRecord } from './port.js';

// The three calls of a lease store, each with a time limit.

/**
 * The store's time, or this clock's time where the store has no clock.
 *
 * @throws ClockError when the two clocks differ by more than `maxSkew`; the time of the message on the way does not count
 */
export async function storeTime(settings: LeaseSettings): Promise<number> {
  const { store, clock, maxSkew } = settings;
  const before = wholeMs(clock.now());
  if (store.now === undefined) return before;
  const now = wholeMs(await answer(settings, 'now', store.now()));
  const after = wholeMs(clock.now());
  const skew = now < before ? before - now : now > after ? now - after : 0;
  if (skew <= maxSkew) return now;
  throw new ClockError(
    `this clock and the store's clock differ by ${skew} ms, more than maxSkew allows (${maxSkew}): set the clocks right`,
  );
}

/** The records of the namespace. @throws StoreError when the store fails or does not answer */
export function list(settings: LeaseSettings): Promise<LeaseRecord[]> {
  return answer(settings, 'listLeases', settings.store.listLeases(settings.namespace));
}

/** The records of a page: those of the namespace itself, and those of the node ids on the page. */
export function read(settings: LeaseSettings, { first, count }: Page): Promise<LeaseRecord[]> {
  const { store, namespace } = settings;
  const reading = store.readLeases?.(namespace, first, count) ?? store.listLeases(namespace);
  return answer(settings, 'readLeases', reading);
}

/** Swaps one record of the namespace. @throws StoreError when the store fails or does not answer */
export function swap(
  settings: LeaseSettings,
  expected: LeaseRecord | undefined,
  next: LeaseRecord,
): Promise<boolean> {
  return answer(settings, 'swapLease', settings.store.swapLease(settings.namespace, expected, next));
}

/** The answer of the store, within a third of the ttl: two more tries fit before the window ends. */
function answer<T>({ timer, ttl }: LeaseSettings, call: string, promise: Promise<T>): Promise<T> {
  const ms = Math.ceil(ttl / 3);
  const error = () => new StoreError(`the store did not answer ${call} within ${ms} ms`);
  return withTimeout(promise, ms, { timer, background: true, error });
}
