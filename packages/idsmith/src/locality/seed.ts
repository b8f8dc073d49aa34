import { md5 } from '../encoding/md5.js';
import type { RandomSource } from '../random.js';

/** The length of time that shares a sequential seed: ten minutes, as in Groupon's code, or an hour, as in its text. */
export type SeedWindow = 'ten-minutes' | 'hour';

/** The number of the window that contains a time, counted from 1970. */
export function windowNumber(ms: number, window: SeedWindow): number {
  return Math.floor(ms / (window === 'hour' ? 3_600_000 : 600_000));
}

/**
 * The counter from which every machine starts in the same window, without communication.
 *
 * The seed is the MD5 of the UTC digits `yyyyMMddHHm` (or `yyyyMMddHH`), its first four bytes read little-endian. For
 * 2012-10-15T18:58Z the digits are `20121015185` and the seed is `0x01b8543f`.
 */
export function sequentialSeed(ms: number, window: SeedWindow): number {
  const digits = new Date(ms).toISOString().replace(/\D/g, '');
  const digest = md5(asciiBytes(digits.slice(0, window === 'hour' ? 10 : 11)));
  return new DataView(digest.buffer).getInt32(0, true);
}

/** A random counter, from which variable mode starts. */
export function randomSeed(random: RandomSource): number {
  const bytes = new Uint8Array(4);
  random.fill(bytes);
  return new DataView(bytes.buffer).getInt32(0, true);
}

function asciiBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
