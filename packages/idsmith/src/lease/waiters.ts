import { ClosedError, LeaseFencedError } from '../errors.js';
import { requireKnown, show } from '../options.js';
import { onAbort, requireSignal } from '../support/abort.js';
import { requireTimeout } from '../support/timeout.js';
import type { Timer } from '../support/timer.js';

/** Options of a wait for a lease. */
export interface LeaseWait {
  /** Ends the wait. The promise then rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
  /** The longest wait, ms. Default no limit. */
  timeout?: number | undefined;
}

/** The part of a lease that waiters look at. */
interface AwaitedLease {
  readonly namespace: string;
  readonly state: 'active' | 'fenced' | 'released';
}

/** @throws InvalidOptionError naming the first option that is wrong */
export function requireWait(options: LeaseWait): {
  signal: AbortSignal | undefined;
  timeout: number | undefined;
} {
  const { signal, timeout } = requireKnown('options', options, ['signal', 'timeout']);
  return {
    signal: requireSignal(signal),
    timeout: timeout === undefined ? undefined : requireTimeout(timeout, timeout),
  };
}

/** The error of every method that needs a lease which is no more. */
export function releasedError({ namespace }: { readonly namespace: string }): ClosedError {
  return new ClosedError(`the lease of namespace ${show(namespace)} was released: acquire another one`);
}

/** The callers that wait until a lease is active. */
export class LeaseWaiters {
  readonly #lease: AwaitedLease;
  readonly #timer: Timer;
  readonly #waiters = new Set<() => void>();

  constructor(lease: AwaitedLease, timer: Timer) {
    this.#lease = lease;
    this.#timer = timer;
  }

  /** Lets every waiter look at the lease, which has a new window or was released. */
  wake(): void {
    for (const look of [...this.#waiters]) look();
  }

  /**
   * Waits until the lease is active.
   *
   * @param isNew waits for the next window, even if the present one is active
   */
  wait(options: LeaseWait, isNew: boolean): Promise<void> {
    const { signal, timeout } = requireWait(options);
    return new Promise((resolve, reject) => {
      let cancelTimer = () => {};
      let cancelSignal = () => {};
      const end = (settle: () => void) => {
        this.#waiters.delete(look);
        cancelTimer();
        cancelSignal();
        settle();
      };
      const look = () => {
        if (this.#lease.state === 'released') end(() => reject(releasedError(this.#lease)));
        else if (this.#lease.state === 'active') end(resolve);
      };
      if (signal?.aborted) return reject(signal.reason);
      this.#waiters.add(look);
      if (!isNew || this.#lease.state === 'released') look();
      if (!this.#waiters.has(look)) return;
      cancelSignal = onAbort(signal, (reason) => end(() => reject(reason)));
      if (timeout !== undefined)
        cancelTimer = this.#timer.after(timeout, () => end(() => reject(this.#timeoutError(timeout))), false);
    });
  }

  #timeoutError(timeout: number): LeaseFencedError {
    return new LeaseFencedError(
      `the lease of namespace ${show(this.#lease.namespace)} did not become active within ${timeout} ms`,
    );
  }
}
