import { md5 } from '../encoding/md5.js';
import { refuse } from '../options.js';
import { requireSequenceName } from '../sequence/name.js';
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
 * The sequence that counts the numbers of a tenant in a period.
 *
 * @throws InvalidOptionError when the name of the sequence would be too long
 */
export function counterName(series: string, tenant: string | undefined, period: string): string {
  const name = `${markerName(series)}:${tenant === undefined ? '' : encoded(tenant)}:${period}`;
  if (name.length > 255)
    refuse('tenant', 'shorter: with the name of the series it has too many characters', tenant);
  return name;
}

/** @throws InvalidOptionError when the format prints a tenant and none is given, or the tenant is not a short line of text */
export function requireTenant(tenant: unknown, format: SeriesFormat): string | undefined {
  if (tenant === undefined && !format.hasTenant) return undefined;
  if (isTenant(tenant)) return tenant;
  refuse('tenant', 'text of 1 to 100 characters, without control characters or space at its ends', tenant);
}

/** The digest of a format, 39 bits: a number that also fits the tables of other programs, whose `next_block_start` is DECIMAL(12,0). */
export const formatDigest = (format: SeriesFormat) => digestOf(format.identity);

/** A short text for the name of a lock. */
export const nameDigest = (counter: string) => String(digestOf(counter));

function digestOf(text: string): bigint {
  const bytes = md5(new TextEncoder().encode(text));
  return new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0) >> 25n;
}

const encoded = (text: string) => encodeURIComponent(text).replaceAll("'", '%27');
