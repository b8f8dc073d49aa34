import { createHash } from 'node:crypto';
import { InvalidOptionError, NoSuchSequenceError, type SequenceInfo } from 'idsmith';
import type { Ids } from 'idsmith/connect';
import type { Reading } from 'idsmith/inspect';
import type { Series, SeriesOptions } from 'idsmith/sql';
import type { Metrics } from '../ops/metrics.js';
import { nextTurn } from '../ops/turns.js';

/** The most series whose texts are recognised. */
const MAX_KNOWN = 200;

/** The counter of a series for one tenant in one period. */
interface SeriesCounter {
  /** `null` for numbers without a tenant. */
  readonly tenant: string | null;
  /** `2026`, `2026-07` …; empty for a series without periods. */
  readonly period: string;
  /** The sequence that counts. */
  readonly sequence: string;
  /** The next number that leaves the store. */
  readonly next: bigint;
}

/** A series of the store. */
export interface ListedSeries {
  readonly name: string;
  readonly counters: SeriesCounter[];
}

/** The time for which the definition of a series is remembered, ms: another server may change it. */
const LIFETIME = 1000;

/** The numbers after which a long answer lets other requests take their turn. */
const SLICE = 50;

/** A series that was minted from here. */
interface KnownSeries {
  readonly series: Series;
  readonly definition: bigint;
  /** The time at which the definition was read, by `performance.now()`. */
  readonly readAt: number;
}

/**
 * The numbers that people print. Callers send the format, the period and the time zone; the store keeps a digest of them, which only those
 * who may define write. A call that differs is refused, and changes nothing for others.
 */
export class SeriesMinter {
  readonly #ids: Ids;
  readonly #metrics: Metrics;
  /** The series that were minted from here, the latest last. */
  readonly #known = new Map<string, KnownSeries>();

  constructor(ids: Ids, metrics: Metrics) {
    this.#ids = ids;
    this.#metrics = metrics;
  }

  /**
   * The next numbers, printed.
   *
   * @param mayDefine true if the caller may begin a series, and change its time zone and width
   * @throws NoSuchSequenceError if the store has no definition, and the caller may not define
   * @throws InvalidOptionError if an option is wrong, or differs from the definition
   */
  async next(
    name: string,
    options: SeriesOptions,
    { tenant, count, mayDefine }: { tenant: string | undefined; count: number; mayDefine: boolean },
  ): Promise<{ ids: string[]; isDefined: boolean }> {
    const { series, isDefined } = await this.#open(name, options, mayDefine);
    const ids: string[] = [];
    for (let i = 0; i < count; i++) {
      if (i > 0 && i % SLICE === 0) await nextTurn();
      ids.push(await series.next({ tenant }));
    }
    this.#metrics.minted.add(count, 'series', '');
    return { ids, isDefined };
  }

  async #open(
    name: string,
    options: SeriesOptions,
    mayDefine: boolean,
  ): Promise<{ series: Series; isDefined: boolean }> {
    const definition = definitionOf(options);
    const known = this.#known.get(name);
    const isFresh = known !== undefined && performance.now() - known.readAt < LIFETIME;
    if (isFresh && known.definition === definition) return { series: known.series, isDefined: false };
    const readAt = performance.now();
    const stored = await this.#definition(name);
    if (stored !== definition && !mayDefine)
      throw stored === undefined ? undefinedSeries(name) : otherSeries(name);
    if (known !== undefined && known.definition !== definition) await known.series.close();
    const series = await this.#ids.series(name, options);
    if (stored !== definition) await this.#define(name, definition, stored !== undefined);
    this.#remember(name, { series, definition, readAt });
    return { series, isDefined: stored !== definition };
  }

  /** The digest of the definition in the store; `undefined` if there is none. */
  async #definition(name: string): Promise<bigint | undefined> {
    try {
      return (await this.#ids.sequences.describe(definitionName(name))).max;
    } catch (error) {
      if (error instanceof NoSuchSequenceError) return undefined;
      throw error;
    }
  }

  async #define(name: string, max: bigint, isKnown: boolean): Promise<void> {
    const { sequences } = this.#ids;
    if (isKnown) await sequences.alter(definitionName(name), { max });
    else await sequences.define(definitionName(name), { start: 1n, max, blockSize: 1, notBefore: NEVER });
  }

  /** What a text says as a number of the series that were minted from here. */
  readings(text: string): Reading[] {
    return [...this.#known.values()].flatMap(({ series }) => {
      try {
        const { number, period, tenant } = series.parse(text);
        const fields = {
          series: series.name,
          number: String(number),
          ...(period !== '' && { period }),
          ...(tenant !== undefined && { tenant }),
        };
        return [{ family: 'series', reason: 'fits the format of the series', fields } as unknown as Reading];
      } catch {
        return [];
      }
    });
  }

  #remember(name: string, known: KnownSeries): void {
    this.#known.delete(name);
    this.#known.set(name, known);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
  }
}

/** The row gives out no numbers, so none can be lost. */
const NEVER = Number.MAX_SAFE_INTEGER;

/** The sequence that keeps the definition of a series, as its highest number. No counter has two percent signs before this letter. */
const definitionName = (series: string) => `series:${encoded(series)}%%d`;

/** A digest of what a caller says of a series, 39 bits, above the numbers that a sequence needs. */
function definitionOf({ format, period = 'none', timeZone = 'UTC' }: SeriesOptions): bigint {
  const digest = createHash('sha256')
    .update(JSON.stringify([format, period, timeZone]))
    .digest();
  return (digest.readBigUInt64BE() >> 25n) + 1000n;
}

function undefinedSeries(name: string): NoSuchSequenceError {
  return new NoSuchSequenceError(
    `no series ${JSON.stringify(name)}: a token with the scopes mint and admin defines it, with the same request`,
  );
}

function otherSeries(name: string): InvalidOptionError {
  return new InvalidOptionError(
    `series ${JSON.stringify(name)} has another format, period or timeZone: send those of its definition; a token with the scopes ` +
      'mint and admin changes the width and the timeZone, with the same request',
  );
}

/** The series among the sequences of a store, by name, each with its tenants and periods. */
export function seriesAmong(sequences: readonly SequenceInfo[]): ListedSeries[] {
  const found = new Map<string, ListedSeries>();
  for (const { name: sequence, next } of sequences) {
    const parts = sequence.split(':');
    // A name that was too long ends with its digest: then tenant and period are not to be read.
    if (parts[0] !== 'series' || parts.length > 4 || sequence.includes('%%')) continue;
    const [name, tenant, period] = parts.slice(1).map(decoded);
    if (name === undefined) continue;
    const series = found.get(name) ?? { name, counters: [] };
    found.set(name, series);
    if (tenant !== undefined && period !== undefined)
      series.counters.push({ tenant: tenant || null, period, sequence, next });
  }
  return [...found.values()];
}

/** A part of a counter's name. */
export const encoded = (text: string) => encodeURIComponent(text).replaceAll("'", '%27');

/** The text, or the part itself if another program wrote it. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
