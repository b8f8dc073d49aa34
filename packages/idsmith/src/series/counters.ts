import { sha256Hex } from '../encoding/hex.js';
import { md5 } from '../encoding/md5.js';
import { hasCode, InvalidOptionError } from '../errors.js';
import { refuse, show } from '../options.js';
import { COUNTER_PREFIX, isCounter, requireSequenceName } from '../sequence/name.js';
import type { SequenceDefinition, SequenceInfo } from '../sequence/port.js';
import type { Sequences } from '../sequence/sequences.js';
import { type Calendar, earliestOf, isTenant, type SeriesFormat } from './format.js';

// A series keeps its numbers in ordinary sequences, one for each tenant and period: `series:invoices:acme:2026`. The sequence
// `series:invoices` remembers the format: its start is a digest. Parts are percent-encoded, so that a colon always divides.

/** The parts of a series that decide about a number. */
export interface SeriesPlan {
  readonly name: string;
  readonly format: SeriesFormat;
  readonly calendar: Calendar;
  readonly start: bigint;
  /** True if every call has a tenant, false if none has; `undefined` if the first number decides. */
  readonly tenants: boolean | undefined;
}

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
export const markerName = (series: string) => `${COUNTER_PREFIX}${encoded(series)}`;

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

/**
 * The tenant of a call; `undefined` for none.
 *
 * @throws InvalidOptionError when the series demands a tenant and none is given, or the other way round, or the tenant is not a short line of text
 */
export function requireTenant(tenant: unknown, { name, tenants }: SeriesPlan): string | undefined {
  if (tenant === undefined) {
    if (tenants !== true) return undefined;
    throw new InvalidOptionError(
      `series ${show(name)} has numbers for each tenant: give the tenant, as in next({ tenant: 'acme' }). undefined is none`,
    );
  }
  if (!isTenant(tenant))
    refuse('tenant', 'text of 1 to 100 characters, without control characters or space at its ends', tenant);
  if (tenants === false)
    throw new InvalidOptionError(
      `series ${show(name)} has no tenants (tenants: false), so tenant ${show(tenant)} has no numbers of its own: leave tenant out`,
    );
  return tenant;
}

/**
 * The digest of a format, and whether there are tenants, 39 bits: a number that also fits the tables of other programs, whose `next_block_start`
 * is DECIMAL(12,0).
 */
export function formatDigest({ identity }: SeriesFormat, hasTenants: boolean): bigint {
  const bytes = md5(new TextEncoder().encode(`${hasTenants ? 'tenants' : 'alone'} ${identity}`));
  return new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0) >> 25n;
}

/**
 * The error for a series of which the store remembers something else.
 *
 * @param kept the digest in the store
 * @param hasTenant true if the call has a tenant
 */
export function otherSeries(
  { name, format }: SeriesPlan,
  kept: bigint | undefined,
  hasTenant: boolean,
): InvalidOptionError {
  if (kept === formatDigest(format, !hasTenant))
    return new InvalidOptionError(
      hasTenant
        ? `series ${show(name)} began without tenants: leave tenant out, or use another name for the series with tenants`
        : `series ${show(name)} has numbers for each tenant: give the tenant, as in next({ tenant: 'acme' }). undefined is none`,
    );
  return new InvalidOptionError(
    `series ${show(name)} has another format or period in this database than ${show(format.text)} with period ` +
      `${show(format.period)}, and numbers could repeat: use the one it began with, which may get a + after its width, or another name`,
  );
}

const encoded = (text: string) => encodeURIComponent(text).replaceAll("'", '%27');

/** The start of the sequence that remembers the format of a series. It is defined with `digest` unless it is there. */
export async function ensureMarker(
  sequences: Sequences,
  series: string,
  digest: bigint,
): Promise<bigint | undefined> {
  // It gives out no numbers, so none can be lost.
  const never = { start: digest, notBefore: Number.MAX_SAFE_INTEGER };
  return (await ensureRow(sequences, markerName(series), never)).start;
}

/** The start of the sequence that remembers the format of a series; `undefined` if there is none. */
export async function markerOf(sequences: Sequences, series: string): Promise<bigint | undefined> {
  try {
    return (await sequences.describe(markerName(series))).start;
  } catch (error) {
    if (hasCode(error, 'NO_SUCH_SEQUENCE')) return undefined;
    throw error;
  }
}

/** Defines the counter of a period unless it is there. It ends where the width does, so that it does not jump past that after a loss. */
export async function ensureCounter(
  sequences: Sequences,
  name: string,
  { start, period, format }: { start: bigint; period: string; format: SeriesFormat },
): Promise<void> {
  const { highest } = format;
  const counter = await ensureRow(sequences, name, { start, max: highest, notBefore: earliestOf(period) });
  if (isOutgrown(counter, format)) await sequences.alter(name, { max: highest });
}

/** True if a counter ends where the width did before it got its `+`. One that a person has stopped stays so. */
export function isOutgrown(
  { max, next, exhausted, blockSize }: Pick<SequenceInfo, 'max' | 'next' | 'exhausted' | 'blockSize'>,
  { narrowest, highest }: SeriesFormat,
): boolean {
  // A counter may have got a block size, and too few numbers are left for a block.
  const isStopped = exhausted && max - next >= BigInt(Math.max(0, blockSize - 1));
  return max === narrowest && max < highest && !isStopped;
}

/** Defines a sequence of single numbers unless it is there, with any definition. */
async function ensureRow(
  sequences: Sequences,
  name: string,
  definition: Omit<SequenceDefinition, 'name'>,
): Promise<SequenceInfo> {
  try {
    return await sequences.describe(name);
  } catch (error) {
    if (!hasCode(error, 'NO_SUCH_SEQUENCE')) throw error;
  }
  try {
    return await sequences.define(name, { ...definition, blockSize: 1 });
  } catch (error) {
    // Somebody else has defined it meanwhile.
    if (!hasCode(error, 'SEQUENCE_EXISTS')) throw error;
    return sequences.describe(name);
  }
}

/** A counter of a series, as its name tells. */
export interface CounterInfo {
  /** `null` for none. */
  readonly tenant: string | null;
  readonly period: string;
  readonly next: bigint;
}

/**
 * The series among the sequences of a store, by their names, with their counters. A counter whose name was too long is left out: its tenant
 * and its period are not to be read.
 */
export function seriesAmong(sequences: readonly SequenceInfo[]): Map<string, CounterInfo[]> {
  const found = new Map<string, CounterInfo[]>();
  for (const { name: sequence, next } of sequences) {
    if (!isCounter(sequence) || sequence.includes('%%')) continue;
    const [name = '', tenant, period] = sequence.slice(COUNTER_PREFIX.length).split(':').map(decoded);
    const counters = found.get(name) ?? [];
    found.set(name, counters);
    if (tenant !== undefined && period !== undefined) counters.push({ tenant: tenant || null, period, next });
  }
  return found;
}

/** The text, or the part itself if another program wrote it. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
