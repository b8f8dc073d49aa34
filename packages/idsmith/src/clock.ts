import { ClockError } from './errors.js';
import { show } from './options.js';

/** A source of time in Unix milliseconds. Pass your own to test without sleeping. */
export interface Clock {
  now(): number;
}

/** The machine's clock. It looks up `Date` at each call, so that fake timers of test frameworks work. */
export const systemClock: Clock = { now: () => Date.now() };

/**
 * A clock's reading as a whole number of milliseconds.
 *
 * @throws ClockError when the reading is not a time since 1970
 */
export function wholeMs(reading: number): number {
  const ms = typeof reading === 'number' ? Math.floor(reading) : -1;
  if (ms >= 0 && ms <= Number.MAX_SAFE_INTEGER) return ms;
  throw new ClockError(`the clock must return milliseconds since 1970, not ${show(reading)}`);
}

/** True if the clock is the machine's: generators on it know of each other. */
export function isMachineClock(clock: Clock): boolean {
  return clock === systemClock || clock === Date;
}
