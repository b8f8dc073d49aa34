import { md5 } from '../encoding/md5.js';

/** What the sequential seed is taken from: ten minutes (as upstream does) or an hour (as its text says). */
export type SeedWindow = 'ten-minutes' | 'hour';

/** Which window of its length, counted from 1970, a time falls into. */
export function windowNumber(ms: number, window: SeedWindow): number {
  return Math.floor(ms / (window === 'hour' ? 3_600_000 : 600_000));
}

/**
 * The counter that every machine starts from in the same window, with no word between them.
 *
 * MD5 of the UTC digits `yyyyMMddHHm` (or `yyyyMMddHH`), its first four bytes read little-endian. For
 * 2012-10-15T18:58Z the digits are `20121015185` and the seed is `0x01b8543f`.
 */
export function sequentialSeed(ms: number, window: SeedWindow): number {
  const date = new Date(ms);
  const parts = [date.getUTCMonth() + 1, date.getUTCDate(), date.getUTCHours(), date.getUTCMinutes()];
  const digits =
    String(date.getUTCFullYear()).padStart(4, '0') +
    parts.map((part) => String(part).padStart(2, '0')).join('');
  const key = digits.slice(0, window === 'hour' ? 10 : 11);
  const digest = md5(Uint8Array.from(key, (digit) => digit.charCodeAt(0)));
  return new DataView(digest.buffer).getInt32(0, true);
}
