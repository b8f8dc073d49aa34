import { type Clock, systemClock } from '../clock.js';
import { systemTimer, type Timer } from '../support/timer.js';

/** Sources of time, for tests. */
export interface SequenceTime {
  /** Default the machine's clock. */
  readonly clock?: Clock | undefined;
  /** Default the runtime's own timers. */
  readonly timer?: Timer | undefined;
}

/** The time between two looks, ms. */
const SECOND = 1000;

/** Looks once a second whether ids at hand are still needed. The timer does not keep the process alive. */
export class SurplusWatch {
  readonly #clock: Clock;
  readonly #timer: Timer;
  readonly #handedOut: () => number;
  readonly #look: (used: number) => Promise<boolean>;
  #cancel: (() => void) | undefined;

  /**
   * @param handedOut gives the number of ids handed out so far
   * @param look is told how many ids were handed out in the last second, and tells whether to look again
   */
  constructor(
    { clock, timer }: SequenceTime,
    handedOut: () => number,
    look: (used: number) => Promise<boolean>,
  ) {
    this.#clock = clock ?? systemClock;
    this.#timer = timer ?? systemTimer;
    this.#handedOut = handedOut;
    this.#look = look;
  }

  /** Starts to look, unless it has started. */
  start(): void {
    if (this.#cancel !== undefined) return;
    const before = this.#handedOut();
    const startedAt = this.#clock.now();
    const tick = async () => {
      // A look that comes late is left out: the process was stopped meanwhile, and may be a copy of another one.
      const isLate = Math.abs(this.#clock.now() - startedAt - SECOND) > SECOND;
      const goesOn = isLate || (await this.#look(this.#handedOut() - before));
      if (this.#cancel !== cancel) return;
      this.#cancel = undefined;
      if (goesOn) this.start();
    };
    const cancel = this.#timer.after(SECOND, () => void tick(), true);
    this.#cancel = cancel;
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }
}
