/** A source of timers. Give your own to run leases on simulated time. */
export interface Timer {
  /**
   * Calls `fn` once after `ms`.
   *
   * @param background a timer in the background does not keep the process alive
   * @returns a function that cancels the call
   */
  after(ms: number, fn: () => void, background: boolean): () => void;
}

interface Unrefable {
  unref?(): void;
}

/** The longest delay that the timers of a runtime accept, ms: about 24 days. */
export const MAX_DELAY = 2 ** 31 - 1;

/** The runtime's own timers. */
export const systemTimer: Timer = {
  after(ms, fn, background) {
    const handle = setTimeout(fn, ms);
    if (background) (handle as Unrefable).unref?.();
    return () => clearTimeout(handle);
  },
};

/** Waits for `ms`. A pause in the background does not keep the process alive. */
export function pause(timer: Timer, ms: number, background: boolean): Promise<void> {
  return new Promise((resolve) => {
    timer.after(ms, resolve, background);
  });
}

/** Longer than any wait, and shorter than {@link MAX_DELAY}. */
const LONG = 2 ** 30;

/**
 * Keeps the process alive until `promise` settles. A caller waits for the promise, while the timers and sockets that settle
 * it may run in the background.
 */
export function keepAlive<T>(timer: Timer, promise: Promise<T>): Promise<T> {
  return promise.finally(timer.after(LONG, () => {}, false));
}
