import { sha256Hex } from '../encoding/hex.js';
import { md5 } from '../encoding/md5.js';
import { hasCode } from '../errors.js';
import { refuse } from '../options.js';
import { requireSequenceName } from '../sequence/name.js';
import type { Prefetch } from '../sequence/prefetch.js';
import type { Sequence } from '../sequence/sequence.js';
import type { Sequences } from '../sequence/sequences.js';
import { isTenant, type SeriesFormat } from './format.js';

// A series keeps its numbers in ordinary sequences, one for each tenant and period: `series:invoices:acme:2026`. The sequence
// `series:invoices` remembers the format: its start is a digest. Parts are percent-encoded, so that a colon always divides.

/**
 * `name` if a series may have it.
 *
 * @throws InvalidOptionError unless it is a name that a sequence may have
 */
export function requireSeriesName(name: unknown): string {
  requireSequenceName(name);
  requireSequenceName(markerName(name as string));
  return name as string;
}

/** The sequence that remembers the format of a series. */
export const markerName = (series: string) => `series:${encoded(series)}`;

/**
 * The sequence that counts the numbers of a tenant in a period. A name that would be too long ends with its digest, after two percent
 * signs, which no other name has.
 */
export async function counterName(
  series: string,
  tenant: string | undefined,
  period: string,
): Promise<string> {
  const name = `${markerName(series)}:${tenant === undefined ? '' : encoded(tenant)}:${period}`;
  if (name.length <= LONGEST_NAME) return name;
  const end = `%%${await sha256Hex(name)}`;
  return name.slice(0, LONGEST_NAME - end.length) + end;
}

const LONGEST_NAME = 255;

/** @throws InvalidOptionError when the format prints a tenant and none is given, or the tenant is not a short line of text */
export function requireTenant(tenant: unknown, format: SeriesFormat): string | undefined {
  if (tenant === undefined && !format.hasTenant) return undefined;
  if (isTenant(tenant)) return tenant;
  refuse('tenant', 'text of 1 to 100 characters, without control characters or space at its ends', tenant);
}

/** The digest of a format, 39 bits: a number that also fits the tables of other programs, whose `next_block_start` is DECIMAL(12,0). */
export function formatDigest({ identity }: SeriesFormat): bigint {
  const bytes = md5(new TextEncoder().encode(identity));
  return new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0) >> 25n;
}

const encoded = (text: string) => encodeURIComponent(text).replaceAll("'", '%27');

/** The most counters that stay open. */
const MOST_OPEN = 1000;

interface Counter {
  readonly period: string;
  readonly sequence: Promise<Sequence>;
  /** The number of callers that wait for a number. */
  users: number;
}

/** What the counters of a series need. */
interface CountersOptions {
  readonly sequences: Sequences;
  readonly series: string;
  readonly start: bigint;
  readonly prefetch: Prefetch | undefined;
}

/** The counters of a series on sequences, the latest period of each tenant. */
export class Counters {
  readonly #options: CountersOptions;
  /** By tenant, the one that was used last at the end. */
  readonly #open = new Map<string | undefined, Counter>();
  /** Counters of periods that are over, while their numbers go back. */
  readonly #closing = new Set<Promise<void>>();

  constructor(options: CountersOptions) {
    this.#options = options;
  }

  /**
   * Takes a number of the period.
   *
   * @throws as `Sequence.next` does
   */
  async next(tenant: string | undefined, period: string, signal: AbortSignal | undefined): Promise<bigint> {
    const counter = this.#counterOf(tenant, period);
    counter.users++;
    try {
      const sequence = await counter.sequence;
      return sequence.take() ?? (await sequence.next(signal === undefined ? {} : { signal }));
    } finally {
      counter.users--;
    }
  }

  /** Closes all counters. Numbers at hand go back where nobody has taken later ones. */
  async close(): Promise<void> {
    for (const [tenant, counter] of this.#open) this.#drop(tenant, counter);
    await Promise.all(this.#closing);
  }

  #counterOf(tenant: string | undefined, period: string): Counter {
    const open = this.#open.get(tenant);
    if (open?.period === period) {
      if (this.#open.size > MOST_OPEN / 2) {
        this.#open.delete(tenant);
        this.#open.set(tenant, open);
      }
      return open;
    }
    if (open !== undefined) this.#drop(tenant, open);
    const counter = { period, sequence: this.#sequenceOf(tenant, period), users: 0 };
    this.#open.set(tenant, counter);
    counter.sequence.catch(() => {
      if (this.#open.get(tenant) === counter) this.#open.delete(tenant);
    });
    this.#dropOldest();
    return counter;
  }

  #dropOldest(): void {
    if (this.#open.size <= MOST_OPEN) return;
    for (const [tenant, counter] of this.#open)
      if (counter.users === 0) {
        this.#drop(tenant, counter);
        return;
      }
  }

  #drop(tenant: string | undefined, counter: Counter): void {
    this.#open.delete(tenant);
    const closing = counter.sequence
      .then((sequence) => sequence.close())
      .catch(() => undefined)
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  async #sequenceOf(tenant: string | undefined, period: string): Promise<Sequence> {
    const { sequences, series, start, prefetch } = this.#options;
    const name = await counterName(series, tenant, period);
    await ensureRow(sequences, name, start);
    return sequences.get(name, prefetch === undefined ? {} : { prefetch });
  }
}

/** Defines a sequence of single numbers unless it is there, with any start. Gives its start. */
export async function ensureRow(
  sequences: Sequences,
  name: string,
  start: bigint,
): Promise<bigint | undefined> {
  try {
    return (await sequences.describe(name)).start;
  } catch (error) {
    if (!hasCode(error, 'NO_SUCH_SEQUENCE')) throw error;
  }
  try {
    return (await sequences.define(name, { start, blockSize: 1 })).start;
  } catch (error) {
    // Somebody else has defined it meanwhile.
    if (!hasCode(error, 'SEQUENCE_EXISTS')) throw error;
    return (await sequences.describe(name)).start;
  }
}
