import { refuse, requireChoice, requireKnown } from '../options.js';
import { type Prefetch, prefetchPolicy } from '../sequence/prefetch.js';
import { SeriesFormat } from './format.js';
import type { SeriesPlan } from './gapless-number.js';
import { requireSeriesName } from './names.js';
import { calendarOf, PERIODS, type Period } from './period.js';

/** Options of a series. */
export interface SeriesOptions {
  /**
   * The printed form: text with `{n:6}` (the number, six digits), `{n:6+}` (six digits or more), `{n}`, `{yyyy}`, `{yy}`, `{q}`,
   * `{mm}`, `{dd}` and `{tenant}`, each at most once.
   */
  readonly format: string;
  /** The time after which numbers begin again. Default `'none'`: never. */
  readonly period?: Period;
  /** The time zone whose calendar decides about the period, such as `Europe/Berlin`. Default `UTC`. */
  readonly timeZone?: string;
  /** The first number of every period, from 0. Default 1. */
  readonly start?: bigint | number;
  /** Keeps a log of every number, in the same transaction, for `list` and `void`. Default `false`. */
  readonly audit?: boolean;
  /** The numbers that a process fetches ahead where no transaction is given, as for `Sequences.get`. Default `'adaptive'`. */
  readonly prefetch?: Prefetch;
}

/** Options of `Series.next`. */
export interface NextOptions {
  /** Each tenant has numbers of its own. Needed where the format has `{tenant}`. */
  readonly tenant?: string;
  /** The caller's open transaction, of a driver or an ORM. The number is part of it: a rollback gives the number back. */
  readonly in?: object;
  /** Ends the wait. The promise then rejects with the reason of the signal. Not together with `in`. */
  readonly signal?: AbortSignal;
}

/** Options of `Series.void`. */
export interface VoidOptions {
  /** The tenant, where the format does not print it. */
  readonly tenant?: string;
  /** The caller's open transaction. Default a transaction of its own. */
  readonly in?: object;
}

/** Options of `Series.list`. */
export interface ListOptions extends VoidOptions {
  /** The period, such as `2026` or `2026-07`. Default the present one. */
  readonly period?: string;
}

export const SERIES_NAMES = ['format', 'period', 'timeZone', 'start', 'audit', 'prefetch'];

/** A series as its options say, checked. */
export interface CheckedSeries extends SeriesPlan {
  readonly audit: boolean;
  readonly prefetch: Prefetch | undefined;
}

/** @throws InvalidOptionError naming the option that is wrong */
export function checkSeries(name: string, options: SeriesOptions): CheckedSeries {
  requireSeriesName(name);
  const { prefetch, timeZone = 'UTC' } = options;
  const period = requireChoice('period', options.period, PERIODS);
  const format = new SeriesFormat(options.format, period);
  const audit = requireChoice('audit', options.audit, [false, true]);
  prefetchPolicy(prefetch);
  return {
    name,
    format,
    calendar: calendarOf(timeZone),
    start: requireStart(options.start, format),
    audit,
    prefetch,
  };
}

/** @throws InvalidOptionError when an option is unknown */
export function requireSeriesOptions(options: SeriesOptions, more: readonly string[] = []): SeriesOptions {
  return requireKnown('options', options, [...SERIES_NAMES, ...more]);
}

function requireStart(start: bigint | number = 1, { highest, text }: SeriesFormat): bigint {
  const isWhole = typeof start === 'bigint' || Number.isSafeInteger(start);
  if (isWhole && start >= 0 && start <= highest) return BigInt(start);
  refuse(
    'start',
    `a whole number from 0 to ${highest}, which format ${JSON.stringify(text)} can print`,
    start,
  );
}
