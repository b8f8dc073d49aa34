import type { LeaseWindow } from '../lease/window.js';

/** How far ids have come, and with which node they may go on. */
export interface FlakeState {
  /** The last tick used, and the last sequence number in it. */
  tick: number;
  sequence: number;
  readonly node: number;
  /** No timestamp from here on may be used. */
  readonly until: number;
  /** The first tick of the window. The clock may be behind it, and then is not waited for. */
  readonly firstTick: number;
  readonly closed: boolean;
  /** Brings the fields above up to date. */
  load(): void;
  /** Moves on to this tick and sequence, unless somebody else has moved since `load()`. */
  advance(tick: number, sequence: number): boolean;
  /** Goes on with another window, in ticks from `firstTick` on and after those used. */
  move(window: LeaseWindow, firstTick: number): void;
  /** No more ids. Returns the last tick used. */
  close(): number;
}

/** The state of a generator in one thread. */
export class OwnState implements FlakeState {
  tick = -1;
  sequence: number;
  node = 0;
  until = 0;
  firstTick = 0;
  closed = false;
  readonly #full: number;

  constructor(maxSequence: number) {
    this.#full = maxSequence;
    this.sequence = maxSequence;
  }

  load(): void {}

  advance(tick: number, sequence: number): boolean {
    this.tick = tick;
    this.sequence = sequence;
    return true;
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
  }

  close(): number {
    this.closed = true;
    return this.tick;
  }
}
