import { ClockError } from '../errors.js';
import type { Complete } from '../options.js';
import type { FlakeOptions } from './options.js';

/** The rules for a full tick and for a clock that steps back. */
export type FlakeRules = Complete<Pick<FlakeOptions, 'onFull' | 'onClockBack' | 'maxBackward'>>;

/** The time, ms, that ids may run at once past a clock that stepped back. After that they keep the clock's speed. */
const SLACK = 100;

/**
 * The lead of ids over the clock.
 *
 * Normally there is none. When the clock is behind, because it stepped back or a lease's window begins later, ids continue
 * from their last tick, ahead of the clock by this difference. The lead stays small: a process that restarts does not know of
 * the step, and must have as little as possible to repeat.
 */
export class Pace {
  /** The highest reading that led to an id, ms. */
  highest = 0;
  #lead = 0;

  /**
   * @param seen a time that other threads have read
   * @throws ClockError when the clock is further behind than the rules allow
   */
  check(now: number, seen: number, { onClockBack, maxBackward }: FlakeRules): void {
    // Other threads may be ahead of their reading by their slack.
    const back = Math.max(this.highest, seen - SLACK) - now;
    if (back <= 0 || (onClockBack === 'hold' && back <= maxBackward)) return;
    throw new ClockError(
      `the clock went back by ${back} ms, to ${now}, more than onClockBack and maxBackward allow; ids continue when the clock has caught up (in tests, give each generator its own clock)`,
    );
  }

  /** Records that the ids are not ahead of the clock. */
  level(): void {
    this.#lead = 0;
  }

  /** Records that ids must be stamped with `due` or later, even if the clock is behind. */
  hold(now: number, due: number, tick: number): void {
    if (due > now) this.#lead = Math.max(this.#lead, due - now + Math.max(SLACK, tick));
  }

  /** Records that other threads have reached `time`, which includes their slack. */
  follow(now: number, time: number): void {
    this.#lead = Math.max(this.#lead, time - now);
  }

  /** True if the ids may enter a tick that begins at `time`. */
  mayEnter(now: number, time: number, { onFull, maxBackward }: FlakeRules): boolean {
    return time - now <= (onFull === 'borrow' ? Math.max(this.#lead, maxBackward) : this.#lead);
  }

  /** Copies the records of another state. */
  copy(pace: Pace): void {
    this.highest = pace.highest;
    this.#lead = pace.#lead;
  }
}
