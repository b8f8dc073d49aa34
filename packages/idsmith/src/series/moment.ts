import { type Calendar, type CalendarDate, type Period, periodText } from './period.js';

/** A reading of the store's clock: the date, and how long the date stays the same. */
export interface Moment {
  readonly date: CalendarDate;
  /** The time for which every reading gives the same unit of the date, ms. At most {@link HORIZON}. */
  readonly lasts: number;
}

/**
 * The longest time for which a reading of another machine's clock is used, ms. A clock that somebody sets is noticed after this time.
 * Two clocks that drift apart do so by less than a millisecond.
 */
const HORIZON = 1000;

/** The date at a reading of the clock. `unit` is the finest part of the date that matters. */
export function momentOf(calendar: Calendar, unit: Period, now: number): Moment {
  const date = calendar(now);
  const text = periodText(unit, date);
  const isSame = (at: number) => periodText(unit, calendar(at)) === text;
  if (isSame(now + HORIZON)) return { date, lasts: HORIZON };
  // The unit turns between `low` and `high`.
  let [low, high] = [now, now + HORIZON];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isSame(middle)) low = middle;
    else high = middle;
  }
  return { date, lasts: high - now };
}
