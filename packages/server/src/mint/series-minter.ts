import { NoSuchSequenceError, type SequenceInfo, type Store } from 'idsmith';
import type { Ids } from 'idsmith/connect';
import type { Reading } from 'idsmith/inspect';
import type { Series, SeriesOptions } from 'idsmith/sql';
import type { Metrics } from '../ops/metrics.js';

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

/** The numbers that people print. The store keeps a digest of each format, so callers tell the format. */
export class SeriesMinter {
  readonly #ids: Ids;
  readonly #store: Store;
  readonly #metrics: Metrics;
  /** The series that were minted from here, the latest last. */
  readonly #known = new Map<string, Series>();

  constructor(ids: Ids, store: Store, metrics: Metrics) {
    this.#ids = ids;
    this.#store = store;
    this.#metrics = metrics;
  }

  /**
   * The next numbers, printed.
   *
   * @param mayBegin true if a series that is not in the store may begin
   * @throws NoSuchSequenceError if it may not
   * @throws InvalidOptionError if an option is wrong, or the store keeps another format for the series
   */
  async next(
    name: string,
    options: SeriesOptions,
    { tenant, count, mayBegin }: { tenant: string | undefined; count: number; mayBegin: boolean },
  ): Promise<{ ids: string[]; hasBegun: boolean }> {
    const hasBegun = !this.#known.has(name) && !(await this.#exists(name));
    if (hasBegun && !mayBegin)
      throw new NoSuchSequenceError(
        `no series ${JSON.stringify(name)}: a token with the scope admin begins it with its first number`,
      );
    const series = await this.#ids.series(name, options);
    this.#remember(series);
    const ids: string[] = [];
    for (let i = 0; i < count; i++) ids.push(await series.next({ tenant }));
    this.#metrics.minted.add(count, 'series', '');
    return { ids, hasBegun };
  }

  /** What a text says as a number of the series that were minted from here. */
  readings(text: string): Reading[] {
    return [...this.#known.values()].flatMap((series) => {
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

  async #exists(name: string): Promise<boolean> {
    try {
      await this.#store.describeSequence(`series:${encoded(name)}`);
      return true;
    } catch (error) {
      if (error instanceof NoSuchSequenceError) return false;
      throw error;
    }
  }

  #remember(series: Series): void {
    this.#known.delete(series.name);
    this.#known.set(series.name, series);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN && oldest !== undefined) this.#known.delete(oldest);
  }
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

const encoded = (text: string) => encodeURIComponent(text).replaceAll("'", '%27');

/** The text, or the part itself if another program wrote it. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
