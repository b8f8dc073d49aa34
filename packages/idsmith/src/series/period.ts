import { InvalidOptionError } from '../errors.js';
import { refuse } from '../options.js';

/** The stretch of time after which the numbers of a series begin again. */
export type Period = 'none' | 'year' | 'quarter' | 'month' | 'day';

/** Every period, the longest first. */
export const PERIODS: readonly [Period, ...Period[]] = ['none', 'year', 'quarter', 'month', 'day'];

/** A day of the calendar. Months begin at 1. */
export interface CalendarDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

/** The date in a time zone, by Unix milliseconds. */
export type Calendar = (at: number) => CalendarDate;

/**
 * The calendar of a time zone.
 *
 * @throws InvalidOptionError when this runtime does not know the zone
 */
export function calendarOf(timeZone: string): Calendar {
  if (typeof timeZone !== 'string') refuse('timeZone', 'the name of a time zone', timeZone);
  const format = formatOf(timeZone);
  return (at) => {
    const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    return { year: parts.get('year')!, month: parts.get('month')!, day: parts.get('day')! };
  };
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
    });
  } catch (error) {
    throw new InvalidOptionError(
      `timeZone must be a time zone that this runtime knows, such as "Europe/Berlin", not ${JSON.stringify(timeZone)}`,
      { cause: error },
    );
  }
}

export const quarterOf = ({ month }: CalendarDate) => Math.ceil(month / 3);

/**
 * The text of a period: `2026`, `2026-Q3`, `2026-07`, `2026-07-14`; empty for `'none'`. Texts of one kind sort by time.
 */
export function periodText(period: Period, date: CalendarDate): string {
  const year = digits(date.year, 4);
  const month = `${year}-${digits(date.month, 2)}`;
  const texts = {
    none: '',
    year,
    quarter: `${year}-Q${quarterOf(date)}`,
    month,
    day: `${month}-${digits(date.day, 2)}`,
  };
  return texts[period];
}

const PERIOD_TEXT: Record<Period, RegExp> = {
  none: /^$/,
  year: /^\d{4}$/,
  quarter: /^\d{4}-Q[1-4]$/,
  month: /^\d{4}-(0[1-9]|1[0-2])$/,
  day: /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/,
};

/** Tells whether a text can be the text of a period of this kind. */
export const isPeriodText = (period: Period, text: string) => PERIOD_TEXT[period].test(text);

/** True if the month of that year has the day. */
export function isDate({ year, month, day }: CalendarDate): boolean {
  const date = new Date(Date.UTC(2000, month - 1, day));
  // A year below 100 would mean one in the twentieth century.
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

export const digits = (value: bigint | number, width: number) => String(value).padStart(width, '0');
