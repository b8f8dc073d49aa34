import { type Clock, wholeMs } from '../clock.js';
import { ClockError, LeaseFencedError, TimeExhaustedError } from '../errors.js';
import { generatorClosed } from '../lease/window.js';
import type { Layout } from './layout.js';
import type { FlakeRules } from './pace.js';
import type { FlakeState } from './state.js';

/** Equal readings in a row after which a clock counts as stopped. A real clock moves after about 25,000. */
const STOPPED_CLOCK_READINGS = 10_000_000;
/** The longest time, ms, that a tick stays in use after its end while other threads take the newer ticks. */
const MAX_TICK_AGE = 10;

/** Sequence numbers of one tick that belong to the caller alone. */
export interface Claim {
  readonly tick: number;
  readonly node: number;
  /** The first sequence number. */
  readonly sequence: number;
  readonly count: number;
  /** The clock reading at which `next()` may continue in the tick, or NaN if there is none. */
  readonly reading: number;
}

/** Decides the tick and the first sequence number of the next ids. */
export class Claims {
  state: FlakeState;
  /** True when the generator was closed. Other generators may share the state, and go on. */
  isClosed = false;
  readonly #layout: Layout;
  readonly #clock: Clock;
  readonly #rules: FlakeRules;
  readonly #maxSequence: number;

  constructor(layout: Layout, clock: Clock, rules: FlakeRules, state: FlakeState) {
    this.#layout = layout;
    this.#clock = clock;
    this.#rules = rules;
    this.#maxSequence = layout.max('sequence');
    this.state = state;
  }

  /**
   * Brings the state up to date.
   *
   * @throws ClosedError when the generator was closed or its lease released
   */
  requireOpen(): void {
    this.state.load();
    if (this.isClosed || this.state.closed) throw generatorClosed();
  }

  /**
   * Takes up to `want` ids of one tick. Waits while no id is available, at most two ticks if nobody else takes them.
   *
   * The clock may be code that mints with this very generator. So the clock is read first, and never between a look at the
   * state and the step that depends on it.
   *
   * @param first a fresh reading of the clock
   */
  take(want: number, first: number): Claim {
    const layout = this.#layout;
    // The highest ticks used by this state, and taken by others, before the clock was read.
    let used = -1;
    let taken = -1;
    for (let reading = first; ; ) {
      this.requireOpen();
      const now = wholeMs(reading);
      if (now < layout.epoch)
        throw new ClockError(`the clock reads ${now}, which is before the layout's epoch ${layout.epoch}`);
      const { state } = this;
      const { pace, slot } = state;
      // One tick less, because others may be one tick ahead of their reading while their clock is held.
      pace.check(now, layout.timeOf(taken - 1), this.#rules);
      const clockTick = layout.tickOf(now);
      let { tick } = state;
      let sequence = state.sequence + 1;
      const isFull = sequence > this.#maxSequence;
      if (clockTick > tick || isFull) {
        if (slot) taken = slot.taken;
        const free = Math.max(tick, taken) + 1;
        if (clockTick >= free) {
          pace.level();
          tick = clockTick;
          sequence = 0;
        } else if (isFull || layout.timeOf(tick + 1) + MAX_TICK_AGE <= now) {
          // The clock is behind, or others have the newer ticks and the own tick is too old.
          if (clockTick >= tick && clockTick >= used) pace.level();
          pace.hold(now, Math.max(pace.highest, layout.timeOf(state.firstTick)), layout.tick);
          pace.follow(now, layout.timeOf(used));
          if (!pace.mayEnter(now, layout.timeOf(free), this.#rules)) {
            // The state may be newer than the reading. So the first time any fresh reading will do.
            reading = used < free - 1 ? this.#clock.now() : this.#awaitReading(reading);
            used = free - 1;
            continue;
          }
          tick = free;
          sequence = 0;
        }
      }
      this.#checkWindow(state, tick);
      const count = Math.min(want, this.#maxSequence - sequence + 1);
      if (state.advance(tick, sequence + count - 1)) {
        const isHeld = now < pace.highest;
        // Only readings that led to an id count: one far ahead of the window would make later readings look like a step back.
        pace.highest = Math.max(pace.highest, now);
        return { tick, node: state.node, sequence, count, reading: isHeld ? Number.NaN : reading };
      }
      reading = this.#clock.now();
    }
  }

  /** Spins until the clock gives another reading than `last`. */
  #awaitReading(last: number): number {
    for (let same = 0; same < STOPPED_CLOCK_READINGS; same++) {
      const reading = this.#clock.now();
      if (reading !== last) return reading;
    }
    throw new ClockError(`the clock stands still at ${last} and the tick is full`);
  }

  #checkWindow({ until, node }: FlakeState, tick: number): void {
    if (tick > this.#layout.max('time')) {
      throw new TimeExhaustedError(`the layout's time field ended at ${this.#layout.expires.toISOString()}`);
    }
    if (this.#layout.timeOf(tick) < until) return;
    throw new LeaseFencedError(`the lease of node ${node} ended at ${until} and was not renewed in time`);
  }
}
