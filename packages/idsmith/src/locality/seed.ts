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
  const digits = new Date(ms).toISOString().replace(/\D/g, '');
  const digest = md5(asciiBytes(digits.slice(0, window === 'hour' ? 10 : 11)));
  return new DataView(digest.buffer).getInt32(0, true);
}

function asciiBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
