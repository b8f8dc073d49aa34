import { type Clock, wholeMs } from '../clock.js';
import { unlessAborted } from '../support/abort.js';
import type { Moment } from './moment.js';

/** A part of the time that is left, so that a clock of this machine that goes too slowly is not trusted to the end. */
const TRUSTED = 0.999;

/** A {@link Moment} that was read at a known time of this machine. */
export interface Reading {
  readonly moment: Moment;
  /** True if the store's clock was asked after that time. */
  isAfter(call: Stopwatch): boolean;
  /** True while the date is certainly the same on the store's clock. */
  readonly holds: boolean;
}

/** The time since a moment of this machine. */
export interface Stopwatch {
  /** Milliseconds; the longer of two measurements, because a machine that sleeps may stop one of its clocks. */
  readonly elapsed: number;
  readonly startedAt: number;
}

/** The machine's own time. `steady` never goes back. */
export interface HostTime {
  steady(): number;
  readonly clock: Clock;
}

export function stopwatch({ steady, clock }: HostTime): Stopwatch {
  const startedAt = steady();
  const wall = clock.now();
  return {
    startedAt,
    get elapsed() {
      return Math.max(steady() - startedAt, clock.now() - wall);
    },
  };
}

/**
 * The store's clock, asked as seldom as possible. A reading tells how long its date lasts. This time is counted from before the
 * question, so that it ends before the store's clock turns, never after.
 */
export class StoreClock {
  readonly #ask: () => Promise<number>;
  readonly #momentOf: (now: number) => Moment;
  readonly #time: HostTime;
  #last: Reading | undefined;
  #asking: Promise<Reading> | undefined;

  constructor(ask: () => Promise<number>, momentOf: (now: number) => Moment, time: HostTime) {
    this.#ask = ask;
    this.#momentOf = momentOf;
    this.#time = time;
  }

  /**
   * A reading whose date holds, or that was asked for just now. Callers at the same time share a question.
   *
   * @throws StoreError when the store fails; the reason of `signal` when it is aborted
   */
  async read(signal: AbortSignal | undefined): Promise<Reading> {
    if (this.#last?.holds) return this.#last;
    this.#asking ??= this.#askOnce().finally(() => {
      this.#asking = undefined;
    });
    return unlessAborted(this.#asking, signal);
  }

  async #askOnce(): Promise<Reading> {
    const sinceAsked = stopwatch(this.#time);
    const moment = this.#momentOf(wholeMs(await this.#ask()));
    const end = moment.lasts * TRUSTED;
    this.#last = {
      moment,
      isAfter: (call) => sinceAsked.startedAt >= call.startedAt,
      get holds() {
        return sinceAsked.elapsed < end;
      },
    };
    return this.#last;
  }
}
