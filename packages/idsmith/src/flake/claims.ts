import { type Clock, wholeMs } from '../clock.js';
import { ClockError, LeaseFencedError, TimeExhaustedError } from '../errors.js';
import type { Layout } from './layout.js';
import type { FlakeRules } from './pace.js';
import type { FlakeState } from './state.js';

/** A clock that gives the same reading this many times in a row stands still: a real one moves on after some 25,000. */
const PATIENCE = 10_000_000;
/** How long a tick may be gone on with, ms, while other threads take the newer ones. */
const STALE = 10;

/** Sequence numbers of one tick that are the caller's alone. */
export interface Claim {
  readonly tick: number;
  readonly node: number;
  /** The first of them. */
  readonly sequence: number;
  readonly count: number;
  /** The reading of the clock for which `next()` may go on in the tick, NaN if there is none. */
  readonly reading: number;
}

/** Decides which ids come next: in which tick, and from which sequence number on. */
export class Claims {
  state: FlakeState;
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
   * Takes up to `want` ids of one tick. Where none is to be had yet it waits, for two ticks at most if nobody else is
   * there to take them.
   *
   * The clock may be code that mints with this very generator. So it is read first, and between a look at the state and
   * the step that depends on it there is no reading.
   *
   * @param first a reading of the clock that was just made
   */
  take(want: number, first: number): Claim {
    const layout = this.#layout;
    // The highest ticks that were used, and that others had taken, before the clock was read.
    let used = -1;
    let taken = -1;
    for (let reading = first; ; ) {
      const now = wholeMs(reading);
      if (now < layout.epoch)
        throw new ClockError(`the clock gives ${now}, before the epoch of the layout, ${layout.epoch}`);
      const { state } = this;
      const { pace, slot } = state;
      state.load();
      if (state.closed) throw new LeaseFencedError(`the lease of node ${state.node} was released`);
      // The tick before: theirs may be ahead of what they read by the tick that a clock held back is granted.
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
        } else if (isFull || layout.timeOf(tick + 1) + STALE <= now) {
          // The clock is behind, or others have the newer ticks and our own is too long over.
          if (clockTick >= tick && clockTick >= used) pace.level();
          pace.hold(now, Math.max(pace.highest, layout.timeOf(state.firstTick)), layout.tick);
          pace.follow(now, layout.timeOf(used));
          if (!pace.mayEnter(now, layout.timeOf(free), this.#rules)) {
            // What is known by now may be newer than the reading. So the first time any other reading will do.
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
        // A reading that led to no id is forgotten: one far ahead, outside the window, would else count as a clock gone back.
        pace.highest = Math.max(pace.highest, now);
        return { tick, node: state.node, sequence, count, reading: isHeld ? Number.NaN : reading };
      }
      reading = this.#clock.now();
    }
  }

  /** Spins until the clock gives another reading than `last`. */
  #awaitReading(last: number): number {
    for (let same = 0; same < PATIENCE; same++) {
      const reading = this.#clock.now();
      if (reading !== last) return reading;
    }
    throw new ClockError(`the clock stands still at ${last}, and its tick is full`);
  }

  #checkWindow({ until, node }: FlakeState, tick: number): void {
    if (tick > this.#layout.max('time')) {
      throw new TimeExhaustedError(`this layout's time ended at ${this.#layout.expires.toISOString()}`);
    }
    if (this.#layout.timeOf(tick) < until) return;
    throw new LeaseFencedError(`the lease of node ${node} ended at ${until} and could not be extended`);
  }
}
