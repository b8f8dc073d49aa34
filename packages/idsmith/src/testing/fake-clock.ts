import type { Clock } from '../clock.js';

/**
 * A clock that moves only when the test moves it.
 *
 * @example
 * const clock = new FakeClock(Date.UTC(2026, 0, 1));
 * clock.advance(5); // five milliseconds later
 */
export class FakeClock implements Clock {
  /** Unix milliseconds. Set it to any value, also backwards. */
  time: number;

  constructor(time = 0) {
    this.time = time;
  }

  now(): number {
    return this.time;
  }

  /** Moves the clock forward by `ms`, or back if `ms` is negative. */
  advance(ms: number): void {
    this.time += ms;
  }
}
