import {
  hasCode,
  InvalidIdError,
  InvalidOptionError,
  SequenceExhaustedError,
  TimeExhaustedError,
} from '../errors.js';
import { nearestName, refuse, show } from '../options.js';

/** The reading of a printed number. */
export interface ParsedNumber {
  readonly number: bigint;
  /** The period, such as `2026`, `2026-Q3`, `2026-07` or `2026-07-14`; empty if the numbers never begin again. */
  readonly period: string;
  /** The printed date, if it is finer than the period: `2026-07`. */
  readonly date?: string;
  /** The tenant, if the format prints it. */
  readonly tenant?: string;
}

/** A printed number in parts. */
export interface NumberParts {
  readonly number: bigint;
  readonly date: CalendarDate;
  readonly tenant: string | undefined;
}

/** The last year that two digits can stand for. */
const LAST_OF_TWO_DIGITS = 2099;

/** The highest number of a sequence. */
const HIGHEST = 2n ** 63n - 1n;

/**
 * The printed form of the numbers of a series. Texts of different periods, numbers and printed tenants are different, and each text
 * has one reading.
 */
export class SeriesFormat {
  readonly text: string;
  readonly period: Period;
  /** The finest part of a date that the text depends on. */
  readonly unit: Period;
  readonly hasTenant: boolean;
  /** The highest number that fits the width. */
  readonly highest: bigint;
  /** The highest number that fits the width without its `+`. */
  readonly narrowest: bigint;
  readonly #tokens: readonly Token[];
  readonly #pattern: RegExp;

  /** @throws InvalidOptionError saying what is wrong with the format, and what to write */
  constructor(text: string, period: Period) {
    if (typeof text !== 'string') refuse('format', "text such as 'INV-{yyyy}-{n:6}'", text);
    this.text = text;
    this.period = period;
    this.#tokens = tokensOf(text);
    const has = (name: TokenName) => this.#tokens.some((token) => token.name === name);
    const printed = finestDate(has);
    requireDate(text, period, has);
    this.hasTenant = has('tenant');
    this.unit = PERIODS.indexOf(printed) > PERIODS.indexOf(period) ? printed : period;
    const number = this.#tokens.find(({ name }) => name === 'n') as Token;
    this.narrowest = smaller(10n ** BigInt(number.width) - 1n, HIGHEST);
    this.highest = number.widens ? HIGHEST : this.narrowest;
    if (this.hasTenant && number.widens) requireBorder(text, this.#tokens);
    this.#pattern = new RegExp(`^${this.#tokens.map(patternOf).join('')}$`, 'su');
  }

  /**
   * The text of a number.
   *
   * @throws SequenceExhaustedError when the number does not fit its width
   * @throws TimeExhaustedError when the year does not fit
   */
  print({ number, date, tenant }: NumberParts): string {
    this.requireFit(number);
    const texts: Record<TokenName, () => string> = {
      literal: () => '',
      yyyy: () => digits(this.#requireYear(date.year, 9999), 4),
      yy: () => digits(this.#requireYear(date.year, LAST_OF_TWO_DIGITS) % 100, 2),
      q: () => String(quarterOf(date)),
      mm: () => digits(date.month, 2),
      dd: () => digits(date.day, 2),
      n: () => String(number),
      tenant: () => tenant as string,
    };
    return this.#tokens
      .map(({ name, literal, width }) => literal || texts[name]().padStart(width, '0'))
      .join('');
  }

  /** @throws SequenceExhaustedError when the number does not fit its width */
  requireFit(number: bigint): void {
    if (number > this.highest) throw this.#tooWide(number);
  }

  /**
   * The error for the user, where a counter has failed: if it has ended with the width, that is what the user must know.
   *
   * @param counter the state of the counter; `undefined` if it is not known
   */
  failure(error: unknown, counter: { readonly max: bigint; readonly next: bigint } | undefined): unknown {
    if (!hasCode(error, 'SEQUENCE_EXHAUSTED') || this.highest === HIGHEST) return error;
    const isEnd = counter?.max === this.highest && counter.next > counter.max;
    return isEnd ? this.#tooWide(counter.next) : error;
  }

  #tooWide(number: bigint): SequenceExhaustedError {
    return new SequenceExhaustedError(
      `the number ${number} does not fit the format ${show(this.text)}: add a + to its width, as in {n:6+}, and numbers grow wider`,
    );
  }

  #requireYear(year: number, last: number): number {
    if (year <= last && year > last - 100 * (last === 9999 ? 100 : 1)) return year;
    throw new TimeExhaustedError(
      `the format ${show(this.text)} cannot print the year ${year}: use {yyyy} in a new series`,
    );
  }

  /**
   * The reading of a text that `print` made.
   *
   * @throws InvalidIdError when `print` cannot have made the text
   */
  parse(text: string): ParsedNumber {
    const found = typeof text === 'string' ? this.#pattern.exec(text)?.groups : undefined;
    if (found === undefined) throw this.#invalid(text);
    const { yyyy, yy, q, mm, dd, n = '', tenant } = found;
    const date = {
      year: yyyy === undefined ? 2000 + Number(yy ?? 0) : Number(yyyy),
      month: mm === undefined ? Number(q ?? 1) * 3 - 2 : Number(mm),
      day: Number(dd ?? 1),
    };
    const number = BigInt(n);
    const isPossible =
      isDate(date) && (q === undefined || Number(q) === quarterOf(date)) && number <= this.highest;
    if (!isPossible || (tenant !== undefined && !isTenant(tenant))) throw this.#invalid(text);
    return {
      number,
      period: periodText(this.period, date),
      ...(this.unit !== this.period && { date: periodText(this.unit, date) }),
      ...(tenant !== undefined && { tenant }),
    };
  }

  #invalid(text: unknown): InvalidIdError {
    return new InvalidIdError(`${show(text)} is not a number of the format ${show(this.text)}`);
  }

  /** The part of the format that must stay: a width may only get its `+` later. */
  get identity(): string {
    return `${this.period} ${this.text.replace(/(\{n:\d+)\+\}/, '$1}')}`;
  }
}

const TENANT = /^[^\p{Cc}\p{Surrogate}]{1,100}$/u;

/** Tells whether a value can be a tenant. */
export const isTenant = (value: unknown): value is string =>
  typeof value === 'string' && TENANT.test(value) && value.trim() === value;

/** The finest part of a date that the format prints. */
function finestDate(has: (name: TokenName) => boolean): Period {
  if (has('dd')) return 'day';
  if (has('mm')) return 'month';
  if (has('q')) return 'quarter';
  return has('yyyy') || has('yy') ? 'year' : 'none';
}

/** The tokens that a part of a date needs. */
const NEEDED: Record<Period, string> = {
  none: '',
  year: '{yyyy}',
  quarter: '{yyyy} and {q}',
  month: '{yyyy} and {mm}',
  day: '{yyyy}, {mm} and {dd}',
};

/** Checks that the format prints the period, so that the numbers of two periods differ. */
function requireDate(format: string, period: Period, has: (name: TokenName) => boolean): void {
  const hasYear = has('yyyy') || has('yy');
  const prints: Record<Period, boolean> = {
    none: true,
    year: hasYear,
    quarter: hasYear && (has('q') || has('mm')),
    month: hasYear && has('mm'),
    day: hasYear && has('mm') && has('dd'),
  };
  if (!prints[period])
    throw new InvalidOptionError(
      `format ${show(format)} does not print the period, so that the numbers of two ${period}s would be the same text: ` +
        `period ${show(period)} needs ${NEEDED[period]}`,
    );
  const finest = finestDate(has);
  if (!prints[finest])
    throw new InvalidOptionError(
      `format ${show(format)} prints a part of a date alone: it needs ${NEEDED[finest]}`,
    );
}

/**
 * Checks that a number of any width ends where a reader sees it. A tenant may have digits, so the character beside the number, on the
 * side of the tenant, must be neither a digit nor part of another token.
 */
function requireBorder(format: string, tokens: readonly Token[]): void {
  const at = tokens.findIndex(({ name }) => name === 'n');
  const isAfter = tokens.findIndex(({ name }) => name === 'tenant') > at;
  const beside = tokens[isAfter ? at + 1 : at - 1];
  const border = isAfter ? beside?.literal.at(0) : beside?.literal.at(-1);
  if (border !== undefined && border !== '' && !/\d/.test(border)) return;
  throw new InvalidOptionError(
    `format ${show(format)} is ambiguous: {tenant} may have digits, and a number that grows wider runs into it. ` +
      "Put a character such as '-' beside the number, or give the number a width without +",
  );
}

function patternOf({ name, literal, width, widens }: Token): string {
  if (name === 'literal') return literal.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&');
  if (name === 'tenant') return '(?<tenant>.+)';
  if (!widens) return `(?<${name}>\\d{${width}})`;
  return `(?<${name}>\\d{${width}}${width < 19 ? `|[1-9]\\d{${width},18}` : ''})`;
}

const smaller = (a: bigint, b: bigint) => (a < b ? a : b);

/** A part of a format: fixed text, or a value in braces. */
interface Token {
  readonly name: TokenName;
  /** The fixed text; empty for a value. */
  readonly literal: string;
  /** The least number of digits. */
  readonly width: number;
  /** True if more digits than `width` are printed where they are needed. */
  readonly widens: boolean;
}

const WIDTHS = { yyyy: 4, yy: 2, q: 1, mm: 2, dd: 2, n: 1, tenant: 0 };

type TokenName = keyof typeof WIDTHS | 'literal';

/** The widest number that a sequence can have. */
const MAX_WIDTH = 19;

const KNOWN = '{n}, {n:6}, {n:6+}, {yyyy}, {yy}, {q}, {mm}, {dd}, {tenant}';

/**
 * The parts of a format.
 *
 * @throws InvalidOptionError when a token is unknown, is there twice, or `{n}` is missing
 */
function tokensOf(format: string): Token[] {
  const tokens = [...format.matchAll(/\{([^{}]*)\}|[^{}]+|[{}]/gs)].map(([text, inside]) =>
    inside === undefined ? literalOf(format, text) : fieldOf(format, inside),
  );
  const names = tokens.map(({ name }) => name).filter((name) => name !== 'literal');
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined)
    throw new InvalidOptionError(`format ${show(format)} has {${twice}} twice: each token may come once`);
  if (names.includes('yy') && names.includes('yyyy'))
    throw new InvalidOptionError(`format ${show(format)} has {yy} and {yyyy}: use one of them`);
  if (!names.includes('n'))
    throw new InvalidOptionError(`format ${show(format)} has no number: add {n:6}, or {n} for any width`);
  return tokens;
}

function literalOf(format: string, literal: string): Token {
  if (literal === '{' || literal === '}')
    throw new InvalidOptionError(
      `format ${show(format)} has a ${literal} without its other half: tokens are ${KNOWN}`,
    );
  if (/[\p{Cc}\p{Surrogate}]/u.test(literal))
    throw new InvalidOptionError(
      `format ${show(format)} has a control character: use text that can be printed`,
    );
  return { name: 'literal', literal, width: 0, widens: false };
}

function fieldOf(format: string, inside: string): Token {
  const [, width, plus] = /^n:([1-9]\d?)(\+?)$/.exec(inside) ?? [];
  if (width !== undefined && Number(width) <= MAX_WIDTH)
    return { name: 'n', literal: '', width: Number(width), widens: plus === '+' };
  if (Object.hasOwn(WIDTHS, inside)) {
    const name = inside as keyof typeof WIDTHS;
    return { name, literal: '', width: WIDTHS[name], widens: name === 'n' };
  }
  const nearest = nearestName(inside, Object.keys(WIDTHS));
  const hint = inside.startsWith('n:')
    ? `a width is from 1 to ${MAX_WIDTH}, with or without +`
    : `${nearest === undefined ? '' : `did you mean {${nearest}}? The `}tokens are ${KNOWN}`;
  throw new InvalidOptionError(`format ${show(format)}: unknown token ${show(`{${inside}}`)}; ${hint}`);
}

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

const quarterOf = ({ month }: CalendarDate) => Math.ceil(month / 3);

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

/** The longest time by which a day begins in any time zone before it begins in UTC, ms. */
const EARLIEST_ZONE = 14 * 3_600_000;

/** A time before which the period of a text has begun in no time zone, Unix ms; 0 for `'none'`. */
export function earliestOf(text: string): number {
  const [, year, quarter, month, day] = /^(\d{4})(?:-Q(\d))?(?:-(\d\d))?(?:-(\d\d))?$/.exec(text) ?? [];
  if (year === undefined) return 0;
  const first = Number(month ?? Number(quarter ?? 1) * 3 - 2);
  return Math.max(0, Date.UTC(Number(year), first - 1, Number(day ?? 1)) - EARLIEST_ZONE);
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
function isDate({ year, month, day }: CalendarDate): boolean {
  const date = new Date(Date.UTC(2000, month - 1, day));
  // A year below 100 would mean one in the twentieth century.
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

const digits = (value: bigint | number, width: number) => String(value).padStart(width, '0');
