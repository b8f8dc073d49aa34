import { ClockError } from '../errors.js';
import type { FlakeOptions } from './options.js';

/** What a generator does when the tick is full or the clock steps back. */
export type FlakeRules = Required<Pick<FlakeOptions, 'onFull' | 'onClockBack' | 'maxBackward'>>;

/** How far past a clock that stepped back ids may run at once, ms; then they go on at the clock's own speed. */
const SLACK = 100;

/**
 * How far ids may run ahead of the clock.
 *
 * Normally not at all. When the clock is behind, because it stepped back or a lease's window begins later, ids go on from
 * where they are, ahead by as much as the clock is behind. They do not run away from it: a process that starts again, and
 * does not know of the step, must have as little as possible to repeat.
 */
export class Pace {
  /** The highest reading that led to an id, ms. */
  highest = 0;
  #lead = 0;

  /** @throws ClockError when the clock is further behind than the rules allow; `seen` is a time that other threads have read */
  check(now: number, seen: number, { onClockBack, maxBackward }: FlakeRules): void {
    // Other threads may have run ahead of what they read, by their slack.
    const back = Math.max(this.highest, seen - SLACK) - now;
    if (back <= 0 || (onClockBack === 'hold' && back <= maxBackward)) return;
    throw new ClockError(
      `the clock went back by ${back} ms, to ${now}, further than onClockBack and maxBackward allow; ids go on when it has caught up (in tests, give each generator a clock of its own)`,
    );
  }

  /** Notes that the ids have reached no tick that the clock has not. */
  level(): void {
    this.#lead = 0;
  }

  /** Notes that ids must be stamped with `due` or later, be the clock there or not. */
  hold(now: number, due: number, tick: number): void {
    if (due > now) this.#lead = Math.max(this.#lead, due - now + Math.max(SLACK, tick));
  }

  /** Notes that other threads have come to `time` already. They have their slack; there is none on top of it. */
  follow(now: number, time: number): void {
    this.#lead = Math.max(this.#lead, time - now);
  }

  /** Whether a tick that begins at `time` may be entered. */
  mayEnter(now: number, time: number, { onFull, maxBackward }: FlakeRules): boolean {
    return time - now <= (onFull === 'borrow' ? Math.max(this.#lead, maxBackward) : this.#lead);
  }

  /** Takes over what another state has noted. */
  copy(pace: Pace): void {
    this.highest = pace.highest;
    this.#lead = pace.#lead;
  }
}
