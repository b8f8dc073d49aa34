import type { Clock } from '../clock.js';

/**
 * A clock that stands still until it is told otherwise.
 *
 * @example
 * const clock = new FakeClock(Date.UTC(2026, 0, 1));
 * clock.advance(5); // five milliseconds later
 */
export class FakeClock implements Clock {
  /** Unix milliseconds. May be set to anything, also backwards. */
  time: number;

  constructor(time = 0) {
    this.time = time;
  }

  now(): number {
    return this.time;
  }

  /** Moves on by `ms`, or back if it is negative. */
  advance(ms: number): void {
    this.time += ms;
  }
}
