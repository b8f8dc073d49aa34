import { processTicks } from '#runtime';
import { type Clock, isMachineClock } from '../clock.js';
import type { LeaseWindow } from '../lease/window.js';
import type { Layout } from './layout.js';
import { Pace } from './pace.js';
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
