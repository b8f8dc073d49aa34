import { type Clock, wholeMs } from '../clock.js';
import { unlessAborted } from '../support/abort.js';
import { SingleFlight } from '../support/single-flight.js';
import { type Calendar, type CalendarDate, type Period, periodText } from './format.js';

/** A reading of the store's clock: the date, and how long the date stays the same. */
export interface CalendarMoment {
  readonly date: CalendarDate;
  /** The time for which every reading gives the same unit of the date, ms. At most {@link HORIZON}. */
  readonly lasts: number;
}

/**
 * The longest time for which a reading of another machine's clock is used, ms. A clock that is set is noticed after this time.
 * Two clocks that drift apart do so by less than a millisecond.
 */
const HORIZON = 1000;

/** The date at a reading of the clock. `unit` is the finest part of the date that matters. */
export function momentOf(calendar: Calendar, unit: Period, now: number): CalendarMoment {
  const date = calendar(now);
  const text = periodText(unit, date);
  const isSame = (at: number) => periodText(unit, calendar(at)) === text;
  if (isSame(now + HORIZON)) return { date, lasts: HORIZON };
  // The unit turns between `low` and `high`.
  let [low, high] = [now, now + HORIZON];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isSame(middle)) low = middle;
    else high = middle;
  }
  return { date, lasts: high - now };
}

/** A part of the time that is left, so that a clock of this machine that goes too slowly is not trusted to the end. */
const TRUSTED = 0.999;

/** A {@link CalendarMoment} that was read at a known time of this machine. */
export interface ClockReading {
  readonly moment: CalendarMoment;
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
  readonly #momentOf: (now: number) => CalendarMoment;
  readonly #time: HostTime;
  #last: ClockReading | undefined;
  readonly #asking = new SingleFlight<ClockReading>();

  constructor(ask: () => Promise<number>, momentOf: (now: number) => CalendarMoment, time: HostTime) {
    this.#ask = ask;
    this.#momentOf = momentOf;
    this.#time = time;
  }

  /**
   * A reading whose date holds, or that was asked for just now. Callers at the same time share a question.
   *
   * @throws StoreError when the store fails; the reason of `signal` when it is aborted
   */
  async read(signal: AbortSignal | undefined): Promise<ClockReading> {
    if (this.#last?.holds) return this.#last;
    return unlessAborted(
      this.#asking.run(() => this.#askOnce()),
      signal,
    );
  }

  async #askOnce(): Promise<ClockReading> {
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
