import type { LeaseWindow } from '../lease/window.js';
import { Pace } from './pace.js';
import type { TickSlot } from './tick-table.js';

/** How far ids have come, and with which node they may go on. */
export interface FlakeState {
  /** The last tick used, and the last sequence number in it. */
  readonly tick: number;
  readonly sequence: number;
  readonly node: number;
  /** No timestamp from here on may be used. */
  readonly until: number;
  /** The first tick of the window. The clock may be behind it, and then is not waited for. */
  readonly firstTick: number;
  readonly closed: boolean;
  /** How the clock and the ids stand to each other. */
  readonly pace: Pace;
  /** Where ticks are claimed, if other states of this process may have the same node. */
  readonly slot: TickSlot | undefined;
  /** Brings the fields above up to date. */
  load(): void;
  /** Moves on to this tick and sequence, unless somebody else has moved since `load()` or has taken the tick. */
  advance(tick: number, sequence: number): boolean;
  /** Goes on with another window, in ticks from `firstTick` on and after those used. */
  move(window: LeaseWindow, firstTick: number): void;
  /** No more ids. Returns the last tick used. */
  close(): number;
}

/** Where the lower half of a 64-bit number lies in this machine's byte order. */
export const LOWER_HALF = new Uint32Array(BigUint64Array.of(1n).buffer)[0] === 1 ? 0 : 1;

/** The state of the generators in one thread: of one, or of all that have the same fixed node. */
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
   * While the clock gives this reading, `next()` may count on in the present tick without a look at anything else. NaN
   * stands for none: it is equal to no reading, itself included.
   */
  reading = Number.NaN;
  /** The last id that `next()` made, the same as two halves, and its lower half with sequence 0. */
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

  /** Lets `next()` count on from `id`, of which `bits` are the sequence, while the clock gives `reading`. */
  aim(id: bigint, bits: number, reading: number): void {
    this.id[0] = id;
    this.base = (this.halves[LOWER_HALF] as number) ^ bits;
    this.reading = reading;
  }

  /** Leaves the rest of the present tick to a state that goes on from here. */
  leaveTick(): void {
    this.sequence = this.#full;
    this.reading = Number.NaN;
  }

  move({ node, until }: LeaseWindow, firstTick: number): void {
    // A tick that was begun before the window, or for another node, is not gone on with.
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
