import { randomFraction } from '../random.js';
import { MAX_DELAY } from '../support/timer.js';
import type { LeaseSettings } from './options.js';

/** The part of a lease that its timers look at. */
interface TimedLease {
  readonly until: number;
  readonly state: 'active' | 'fenced' | 'released';
}

/** The work that the timers start. */
interface TimerCallbacks {
  onRenewalDue(): void;
  onWindowEnd(): void;
}

/** The two timers of a lease, both in the background: one for the next renewal, one for the end of the window. */
export class LeaseTimers {
  readonly #settings: LeaseSettings;
  readonly #lease: TimedLease;
  readonly #callbacks: TimerCallbacks;
  #cancelRenewal: () => void = () => {};
  #cancelWatch: () => void = () => {};

  constructor(settings: LeaseSettings, lease: TimedLease, callbacks: TimerCallbacks) {
    this.#settings = settings;
    this.#lease = lease;
    this.#callbacks = callbacks;
  }

  /**
   * Starts a renewal in about `ms`: up to a fifth sooner or later, so that processes that started together do not renew together.
   *
   * @param least the earliest moment, as a fraction of `ms`
   */
  renewAfter(ms: number, least = 0.8): void {
    this.#cancelRenewal();
    const jittered = ms * (least + (1.2 - least) * randomFraction(this.#settings.random));
    this.#cancelRenewal = this.#settings.timer.after(jittered, () => this.#callbacks.onRenewalDue(), true);
  }

  /** Reports the end of the present window. */
  watchWindow(): void {
    this.#cancelWatch();
    const { timer, clock } = this.#settings;
    const left = this.#lease.until - clock.now();
    // A broken clock tells no time to wait for. The next renewal looks again.
    if (!(left >= 0 && left <= MAX_DELAY)) return;
    this.#cancelWatch = timer.after(
      left,
      () => {
        // The clock may run slower than the timer.
        if (this.#lease.state === 'active') this.watchWindow();
        else this.#callbacks.onWindowEnd();
      },
      true,
    );
  }

  cancelRenewal(): void {
    this.#cancelRenewal();
  }

  cancel(): void {
    this.#cancelRenewal();
    this.#cancelWatch();
  }
}
