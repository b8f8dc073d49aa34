import type { LeaseWindow } from '../lease/window.js';

/** How far ids have come, and with which node they may go on. */
export interface FlakeState {
  /** The last tick used, and the last sequence number in it. */
  tick: number;
  sequence: number;
  readonly node: number;
  /** No timestamp from here on may be used. */
  readonly until: number;
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
    if (node !== this.node || this.until === 0) {
      this.tick = Math.max(this.tick, firstTick - 1);
      this.sequence = this.#full;
    }
    this.node = node;
    this.until = until;
  }

  close(): number {
    this.closed = true;
    return this.tick;
  }
}
