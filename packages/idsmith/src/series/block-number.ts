import { type Clock, systemClock, wholeMs } from '../clock.js';
import { ClosedError, hasCode } from '../errors.js';
import { show } from '../options.js';
import type { Prefetch } from '../sequence/prefetch.js';
import type { Sequence } from '../sequence/sequence.js';
import type { Sequences } from '../sequence/sequences.js';
import type { Store } from '../stores/store.js';
import { unlessAborted } from '../support/abort.js';
import { SingleFlight } from '../support/single-flight.js';
import { counterName, ensureCounter, type SeriesPlan } from './counters.js';
import { type Calendar, type CalendarDate, type Period, periodText, type SeriesFormat } from './format.js';

/** The parts of a series that come from its store. */
export interface SeriesStore {
  readonly store: Store;
  readonly sequences: Sequences;
}

/** The error of a series that has ended. */
export const seriesClosed = (name: string) =>
  new ClosedError(`series ${show(name)} is closed: make it again`);

/** The most counters that are closed under a caller before it gives up. */
const MOST_TRIES = 10;

/**
 * The numbers of a series from blocks, outside of transactions: the store's clock tells the period, and a sequence of the period gives the
 * number.
 */
export class BlockNumbers {
  readonly #plan: SeriesPlan;
  readonly #counters: Counters;
  readonly #sequences: Sequences;
  readonly #clock: StoreClock;
  readonly #time = { steady: () => performance.now(), clock: systemClock };
  #isClosed = false;

  constructor(plan: SeriesPlan, { store, sequences }: SeriesStore, prefetch: Prefetch | undefined) {
    const { name, start, format, calendar } = plan;
    this.#plan = plan;
    this.#sequences = sequences;
    this.#counters = new Counters({ sequences, series: name, start, format, prefetch });
    const ask = async () => (await store.now?.()) ?? systemClock.now();
    this.#clock = new StoreClock(ask, (now) => momentOf(calendar, format.unit, now), this.#time);
  }

  /**
   * Takes a number. The period of its date holds when the number is handed out, or was read during this call.
   *
   * @throws ClosedError after `close()`; other errors as `Sequence.next` does
   */
  async next(
    tenant: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<{ number: bigint; date: CalendarDate }> {
    const { name, format } = this.#plan;
    const call = stopwatch(this.#time);
    for (let tries = 1; ; tries++) {
      const reading = await this.#clock.read(signal);
      const { date } = reading.moment;
      try {
        const number = await this.#counters.next(tenant, periodText(format.period, date), signal);
        if (reading.holds || reading.isAfter(call)) return { number, date };
        // The period may have turned while the number came. The number is skipped.
      } catch (error) {
        // Another caller has seen the period turn, and has closed the counter. Or the store is closed.
        if (!hasCode(error, 'CLOSED') || tries === MOST_TRIES) throw await this.#failure(error, tenant, date);
        if (this.#isClosed) throw seriesClosed(name);
      }
    }
  }

  /** The error for the user. A counter at its end is looked at: its width may be the reason. */
  async #failure(error: unknown, tenant: string | undefined, date: CalendarDate): Promise<unknown> {
    if (!hasCode(error, 'SEQUENCE_EXHAUSTED')) return error;
    const { name, format } = this.#plan;
    const counter = await counterName(name, tenant, periodText(format.period, date));
    return format.failure(error, await this.#sequences.describe(counter).catch(() => undefined));
  }

  /** Closes all counters. Numbers at hand go back where nobody has taken later ones. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.#counters.close();
  }
}

/** The most counters that stay open. */
const MOST_OPEN = 1000;

interface Counter {
  readonly period: string;
  readonly sequence: Promise<Sequence>;
  /** The number of callers that wait for a number. */
  users: number;
}

/** What the counters of a series need. */
interface CountersOptions {
  readonly sequences: Sequences;
  readonly series: string;
  readonly start: bigint;
  readonly format: SeriesFormat;
  readonly prefetch: Prefetch | undefined;
}

/** The counters of a series on sequences, the latest period of each tenant. */
export class Counters {
  readonly #options: CountersOptions;
  /** By tenant, the one that was used last at the end. */
  readonly #open = new Map<string | undefined, Counter>();
  /** Counters of periods that are over, while their numbers go back. */
  readonly #closing = new Set<Promise<void>>();

  constructor(options: CountersOptions) {
    this.#options = options;
  }

  /**
   * Takes a number of the period.
   *
   * @throws as `Sequence.next` does
   */
  async next(tenant: string | undefined, period: string, signal: AbortSignal | undefined): Promise<bigint> {
    const counter = this.#counterOf(tenant, period);
    counter.users++;
    try {
      const sequence = await counter.sequence;
      return sequence.take() ?? (await sequence.next(signal === undefined ? {} : { signal }));
    } catch (error) {
      // The next caller opens it anew: its width may have grown, or it is made again.
      if (hasCode(error, 'SEQUENCE_EXHAUSTED') || hasCode(error, 'NO_SUCH_SEQUENCE'))
        this.#leave(tenant, counter);
      throw error;
    } finally {
      counter.users--;
    }
  }

  /** Closes all counters. Numbers at hand go back where nobody has taken later ones. */
  async close(): Promise<void> {
    for (const [tenant, counter] of this.#open) this.#drop(tenant, counter);
    await Promise.all(this.#closing);
  }

  #counterOf(tenant: string | undefined, period: string): Counter {
    const open = this.#open.get(tenant);
    if (open?.period === period) {
      if (this.#open.size > MOST_OPEN / 2) {
        this.#open.delete(tenant);
        this.#open.set(tenant, open);
      }
      return open;
    }
    if (open !== undefined) this.#drop(tenant, open);
    const counter = { period, sequence: this.#sequenceOf(tenant, period), users: 0 };
    this.#open.set(tenant, counter);
    counter.sequence.catch(() => this.#leave(tenant, counter));
    this.#dropOldest();
    return counter;
  }

  #dropOldest(): void {
    if (this.#open.size <= MOST_OPEN) return;
    for (const [tenant, counter] of this.#open)
      if (counter.users === 0) {
        this.#drop(tenant, counter);
        return;
      }
  }

  #leave(tenant: string | undefined, counter: Counter): void {
    if (this.#open.get(tenant) === counter) this.#drop(tenant, counter);
  }

  #drop(tenant: string | undefined, counter: Counter): void {
    this.#open.delete(tenant);
    const closing = counter.sequence
      .then((sequence) => sequence.close())
      .catch(() => undefined)
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  async #sequenceOf(tenant: string | undefined, period: string): Promise<Sequence> {
    const { sequences, series, start, format, prefetch } = this.#options;
    const name = await counterName(series, tenant, period);
    await ensureCounter(sequences, name, { start, period, format });
    return sequences.get(name, prefetch === undefined ? {} : { prefetch });
  }
}

/** A reading of the store's clock: the date, and how long the date stays the same. */
interface CalendarMoment {
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
interface ClockReading {
  readonly moment: CalendarMoment;
  /** True if the store's clock was asked after that time. */
  isAfter(call: Stopwatch): boolean;
  /** True while the date is certainly the same on the store's clock. */
  readonly holds: boolean;
}

/** The time since a moment of this machine. */
interface Stopwatch {
  /** Milliseconds; the longer of two measurements, because a machine that sleeps may stop one of its clocks. */
  readonly elapsed: number;
  readonly startedAt: number;
}

/** The machine's own time. `steady` never goes back. */
interface HostTime {
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
