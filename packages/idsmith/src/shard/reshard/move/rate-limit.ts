import { pause, systemTimer } from '../../../support/timer.js';

/** The longest delay that the mover may catch up on after falling behind its rate, ms. */
const BURST = 100;

/** Limits the number of keys that are moved in a second, for all callers together. */
export class RateLimit {
  readonly #rate: number;
  /** The time at which the next keys may be moved, ms. */
  #next = 0;

  constructor(rate: number) {
    this.#rate = rate;
  }

  /** The largest batch that keeps to the rate. */
  get largestBatch(): number {
    return Math.max(1, Math.ceil((this.#rate * BURST) / 1000));
  }

  /** Waits until `keys` keys may be moved. */
  async wait(keys: number): Promise<void> {
    if (this.#rate === Number.POSITIVE_INFINITY) return;
    const now = performance.now();
    const at = Math.max(this.#next, now - BURST);
    this.#next = at + (keys / this.#rate) * 1000;
    if (at > now) await pause(systemTimer, at - now, false);
  }
}
