import { StoreError } from '../errors.js';

/** Something to wait with. Give your own to run leases on simulated time. */
export interface Timer {
  /** Calls `fn` once after `ms`; returns what calls it off. In the background it does not keep a process alive. */
  after(ms: number, fn: () => void, background: boolean): () => void;
}

interface Unrefable {
  unref?(): void;
}

/** The runtime's own timers. */
export const systemTimer: Timer = {
  after(ms, fn, background) {
    const handle = setTimeout(fn, ms);
    if (background) (handle as Unrefable).unref?.();
    return () => clearTimeout(handle);
  },
};

/** A pause, in the background or one that somebody waits for. */
export function pause(timer: Timer, ms: number, background: boolean): Promise<void> {
  return new Promise((resolve) => {
    timer.after(ms, resolve, background);
  });
}

/**
 * What `promise` gives, if it does within `ms`. What comes later is dropped.
 *
 * @throws StoreError when it does not
 */
export function within<T>(timer: Timer, ms: number, what: string, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = new StoreError(`the store did not answer ${what} within ${ms} ms`);
    const cancel = timer.after(ms, () => reject(late), true);
    promise.then(resolve, reject).finally(cancel);
  });
}

/** Longer than anything takes, and shorter than timers may be set to. */
const LONG = 2 ** 30;

/**
 * Keeps the process alive until `promise` is settled. Somebody waits for it, while the timers that would settle it run in
 * the background, and a store's sockets may, too.
 */
export function awaited<T>(timer: Timer, promise: Promise<T>): Promise<T> {
  return promise.finally(timer.after(LONG, () => {}, false));
}
