import { pause, systemTimer } from '../../../support/timer.js';

/** How far the moving may fall behind its rate and still catch up, ms. */
const BURST = 100;

/** Lets so many keys a second pass, whoever asks. */
export class Pace {
  readonly #rate: number;
  /** When the next may pass, ms. */
  #next = 0;

  constructor(rate: number) {
    this.#rate = rate;
  }

  /** How many keys may go at once without leaving the rate for long. */
  get most(): number {
    return Math.max(1, Math.ceil((this.#rate * BURST) / 1000));
  }

  /** Waits until so many may pass. */
  async pass(keys: number): Promise<void> {
    if (this.#rate === Number.POSITIVE_INFINITY) return;
    const now = performance.now();
    const at = Math.max(this.#next, now - BURST);
    this.#next = at + (keys / this.#rate) * 1000;
    if (at > now) await pause(systemTimer, at - now, false);
  }
}
