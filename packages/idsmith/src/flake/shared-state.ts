import { InvalidOptionError } from '../errors.js';
import type { LeaseWindow } from '../lease/window.js';
import { isA, refuse, requireKnown } from '../options.js';
import { requireSharedMemory } from '../support/shared-memory.js';
import type { FlakeState } from './claims.js';
import { provideFlakeThreads } from './generator.js';
import { Pace } from './pace.js';
import { TickSlot } from './tick-table.js';

// The shared memory in words of 64 bits: the position, then two windows of three words each (until, firstTick, node). The
// position is (tick + 1, sequence, number of the window in force), from the highest bits to the lowest.
const WINDOW_WORDS = 3;
const SHARED_BYTES = 8 * (1 + 2 * WINDOW_WORDS);
const CLOSED = 2n ** 64n - 1n;
/** The word for a window without end. */
const ENDLESS = 2n ** 62n;

/**
 * The state of a generator that several threads advance at once.
 *
 * Tick, sequence and window are one 64-bit number, advanced by compare-exchange: a thread that was stopped between reading
 * and advancing fails, and reads again. The thread that holds the lease writes a new window beside the one in force. The new
 * window comes into force with one such step, which also skips a tick. So a position never repeats, an advance for the old
 * node fails, and a thread that dies at any point leaves a state that the others can use.
 */
export class SharedState implements FlakeState {
  readonly buffer: SharedArrayBuffer;
  readonly slot: TickSlot | undefined;
  readonly pace = new Pace();
  tick = -1;
  sequence = 0;
  node = 0;
  until = 0;
  closed = false;
  readonly #words: BigUint64Array;
  readonly #halves: Int32Array;
  readonly #lowBits: number;
  readonly #shift: bigint;
  #seen = CLOSED;
  /** The window in force: 0 or 1. */
  #which = 0;

  constructor(buffer: SharedArrayBuffer, sequenceBits: number, slot?: TickSlot) {
    this.buffer = buffer;
    this.slot = slot;
    this.#words = new BigUint64Array(buffer);
    this.#halves = new Int32Array(buffer);
    this.#lowBits = sequenceBits + 1;
    this.#shift = BigInt(this.#lowBits);
  }

  /** Makes new memory that continues from `state`. */
  static from(state: FlakeState, sequenceBits: number, slot?: TickSlot): SharedState {
    const shared = new SharedState(new SharedArrayBuffer(SHARED_BYTES), sequenceBits, slot);
    const position = shared.#position(state.tick, state.sequence, 0);
    shared.#writeWindow(0, state, state.firstTick);
    Atomics.store(shared.#words, 0, state.closed ? CLOSED : position);
    shared.pace.copy(state.pace);
    shared.load();
    return shared;
  }

  load(): void {
    for (;;) {
      this.#see(Atomics.load(this.#words, 0));
      if (this.closed) return;
      const at = windowAt(this.#which);
      const until = Atomics.load(this.#words, at);
      this.until = until === ENDLESS ? Number.POSITIVE_INFINITY : Number(until);
      this.node = Atomics.load(this.#halves, 2 * at + 4) >>> 0;
      // While a window is in force, only its end is written. So the window is complete if it is still in force.
      if (this.#seen === Atomics.load(this.#words, 0)) return;
    }
  }

  get firstTick(): number {
    return Number(BigInt.asIntN(64, Atomics.load(this.#words, windowAt(this.#which) + 1)));
  }

  advance(tick: number, sequence: number): boolean {
    if (tick !== this.tick && this.slot?.claim(tick) === false) return false;
    return this.#step(this.#position(tick, sequence, this.#which));
  }

  move(window: LeaseWindow, firstTick: number): void {
    this.load();
    if (this.closed) return;
    if (window.node === this.node && this.tick >= firstTick && window.until >= this.until) {
      // The same window with a later end: a thread that still sees the old end only stops too early.
      Atomics.store(this.#words, windowAt(this.#which), toWord(window.until));
      return;
    }
    for (;;) {
      // A whole tick is skipped, so that the position changes in any case.
      const passed = Math.max(this.tick + 1, firstTick - 1);
      const other = 1 - this.#which;
      this.#writeWindow(other, window, passed + 1);
      if (this.#step(this.#position(passed, 2 ** (this.#lowBits - 1) - 1, other))) return;
      this.#see(Atomics.load(this.#words, 0));
      if (this.closed) return;
    }
  }

  close(): number {
    const last = Atomics.exchange(this.#words, 0, CLOSED);
    if (last !== CLOSED) this.#see(last);
    this.closed = true;
    return this.tick;
  }

  #step(next: bigint): boolean {
    return Atomics.compareExchange(this.#words, 0, this.#seen, next) === this.#seen;
  }

  #writeWindow(which: number, { node, until }: Pick<LeaseWindow, 'node' | 'until'>, firstTick: number): void {
    const at = windowAt(which);
    Atomics.store(this.#words, at, toWord(until));
    Atomics.store(this.#words, at + 1, BigInt.asUintN(64, BigInt(firstTick)));
    Atomics.store(this.#halves, 2 * at + 4, node);
  }

  #see(position: bigint): void {
    this.#seen = position;
    this.closed = position === CLOSED;
    if (this.closed) return;
    const low = Number(BigInt.asUintN(this.#lowBits, position));
    this.#which = low % 2;
    this.sequence = (low - this.#which) / 2;
    this.tick = Number(position >> this.#shift) - 1;
  }

  /** Adds one to the tick, so that the position before the first id, in tick −1, is not negative. */
  #position(tick: number, sequence: number, which: number): bigint {
    return (BigInt(tick + 1) << this.#shift) | BigInt(2 * sequence + which);
  }
}

function windowAt(which: number): number {
  return 1 + which * WINDOW_WORDS;
}

function toWord(until: number): bigint {
  return until === Number.POSITIVE_INFINITY ? ENDLESS : BigInt(until);
}

const HANDLE_NAMES = ['state', 'layout', 'onFull', 'onClockBack', 'maxBackward', 'as', 'turns'];

/** The code behind `share()` and `attach()`. Loading this module provides it. */
export const flakeThreads = /* @__PURE__ */ provideFlakeThreads({
  share(own, { fields, options: layout }) {
    requireSharedMemory();
    const wide = fields.time.bits + fields.sequence.bits;
    if (wide > 62)
      throw new InvalidOptionError(`share() needs timeBits + sequenceBits to be 62 at most, not ${wide}`);
    const turns = own.slot?.newGroup();
    const state = SharedState.from(own, fields.sequence.bits, turns && TickSlot.attach(turns));
    return { state, handle: { state: state.buffer, layout, ...(turns && { turns }) } };
  },

  requireHandle(handle) {
    if (!isA('SharedArrayBuffer', handle?.state) || handle.state.byteLength !== SHARED_BYTES)
      refuse('handle', 'a handle from share()', handle);
    if (handle.turns !== undefined) requireKnown('handle.turns', handle.turns, ['memory', 'slot', 'group']);
    return requireKnown('handle', handle, HANDLE_NAMES);
  },

  attach: ({ state, turns }, sequenceBits) =>
    new SharedState(state, sequenceBits, turns && TickSlot.attach(turns)),
});
