import { processTicks } from '#runtime';
import { type Clock, isMachineClock, wholeMs } from '../clock.js';
import { ClockError, LeaseFencedError, TimeExhaustedError } from '../errors.js';
import { generatorClosed, type LeaseWindow } from '../lease/window.js';
import type { Layout } from './layout.js';
import { type FlakeRules, Pace } from './pace.js';
import { TickSlot } from './tick-table.js';

/** The progress of ids, and the node and window for the next ones. */
export interface FlakeState {
  /** The last tick used, and the last sequence number in it. */
  readonly tick: number;
  readonly sequence: number;
  readonly node: number;
  /** The first timestamp that may not be used. */
  readonly until: number;
  /** The first tick of the window. Ids use it even if the clock is still behind it. */
  readonly firstTick: number;
  readonly closed: boolean;
  /** The lead of the ids over the clock. */
  readonly pace: Pace;
  /** The slot for claiming ticks, if other states of this process may have the same node. */
  readonly slot: TickSlot | undefined;
  /** Brings the fields above up to date. */
  load(): void;
  /** Advances to this tick and sequence. Returns false if another thread has advanced since `load()` or has the tick. */
  advance(tick: number, sequence: number): boolean;
  /** Continues in another window, in ticks from `firstTick` on and above those used. */
  move(window: LeaseWindow, firstTick: number): void;
  /** Ends minting, and returns the last tick used. */
  close(): number;
}

/** The index of the lower half of a 64-bit number in this machine's byte order. */
export const LOWER_HALF = new Uint32Array(BigUint64Array.of(1n).buffer)[0] === 1 ? 0 : 1;

/** The state of generators in one thread: of one generator, or of all with the same fixed node. */
export class OwnState implements FlakeState {
  tick = -1;
  sequence: number;
  node = 0;
  until = 0;
  firstTick = 0;
  closed = false;
  readonly pace = new Pace();
  readonly slot: TickSlot | undefined;
  readonly #full: number;

  /**
   * The clock reading at which `next()` may continue in the present tick without any other check. NaN stands for no
   * reading: it equals nothing, not even itself.
   */
  reading = Number.NaN;
  /** The last id from `next()`, its two halves, and its lower half with sequence 0. */
  readonly id = new BigUint64Array(1);
  readonly halves = new Uint32Array(this.id.buffer);
  base = 0;

  constructor(maxSequence: number, slot?: TickSlot) {
    this.#full = maxSequence;
    this.sequence = maxSequence;
    this.slot = slot;
  }

  load(): void {}

  advance(tick: number, sequence: number): boolean {
    if (tick !== this.tick && this.slot?.claim(tick) === false) return false;
    this.tick = tick;
    this.sequence = sequence;
    this.reading = Number.NaN;
    return true;
  }

  /** Lets `next()` continue from `id`, whose sequence is `bits`, while the clock gives `reading`. */
  aim(id: bigint, bits: number, reading: number): void {
    this.id[0] = id;
    this.base = (this.halves[LOWER_HALF] as number) ^ bits;
    this.reading = reading;
  }

  /** Leaves the rest of the present tick to the state that continues from here. */
  leaveTick(): void {
    this.sequence = this.#full;
    this.reading = Number.NaN;
  }

  move({ node, until }: LeaseWindow, firstTick: number): void {
    // A tick that began before the window, or for another node, is not continued.
    if (node !== this.node || this.tick < firstTick) {
      this.tick = Math.max(this.tick, firstTick - 1);
      this.sequence = this.#full;
    }
    this.node = node;
    this.until = until;
    this.firstTick = firstTick;
    this.reading = Number.NaN;
  }

  close(): number {
    this.closed = true;
    this.reading = Number.NaN;
    return this.tick;
  }
}

/** The states of fixed nodes in this thread on the machine's clock, by layout and node. */
const states = new Map<string, OwnState>();

/**
 * The state of a fixed node. On the machine's clock, generators of this thread with the same layout and node share one
 * state, which claims its ticks among those of other threads. With another clock, as in tests, each generator has a state
 * of its own.
 *
 * @throws InvalidOptionError when the process has used too many fixed nodes
 */
export function fixedNodeState(layout: Layout, node: number, clock: Clock): OwnState {
  const window = { node, from: 0, until: Number.POSITIVE_INFINITY };
  if (!isMachineClock(clock)) return opened(new OwnState(layout.max('sequence')), window);
  const key = `${layout.fingerprint} ${node}`;
  let state = states.get(key);
  if (state === undefined) {
    state = opened(new OwnState(layout.max('sequence'), TickSlot.of(processTicks(), key)), window);
    states.set(key, state);
  }
  return state;
}

function opened(state: OwnState, window: { node: number; from: number; until: number }): OwnState {
  state.move(window, 0);
  return state;
}

/** Equal readings in a row after which a clock counts as stopped. A real clock moves after about 25,000. */
const STOPPED_CLOCK_READINGS = 10_000_000;
/** The longest time, ms, that a tick stays in use after its end while other threads take the newer ticks. */
const MAX_TICK_AGE = 10;

/** Sequence numbers of one tick that belong to the caller alone. */
export interface TickRun {
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
  take(want: number, first: number): TickRun {
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
    const ago = this.#layout.timeOf(tick) - until;
    throw new LeaseFencedError(
      `the lease of node ${node} ended ${ago} ms ago, and was not renewed in time. The generator recovers by itself when the store answers; ` +
        'nextAsync() waits for that',
    );
  }
}
