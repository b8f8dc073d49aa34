// A locality UUID is four big-endian 32-bit words:
//
//   0  the counter, in the order its mode writes it
//   1  process id (16 bits), version (4), MAC byte 2's low nibble (4), MAC byte 3 (8)
//   2  MAC bytes 4 and 5 (16), upper 16 bits of the time
//   3  lower 32 bits of the time
//
// The RFC 9562 format has version 8 and the variant `10` in the top two bits of word 2, in place of two of the 28 MAC bits.

import { reverseBytes, swapNibbles } from '../encoding/hex.js';
import type { MachineNode } from '../runtime/machine.js';
import type { Spelling } from './text.js';

/** The format of an id: `'locality'` is Groupon's version b, `'rfc9562'` a standard version 8 with the same fields. */
export type LocalityFormat = 'locality' | 'rfc9562';

/** The most node ids a lease may have, by format. RFC 9562 leaves 14 bits above the lowest 16. */
export const LEASED_NODES = { locality: 2 ** 32, rfc9562: 2 ** 30 } as const;

/** The last millisecond that fits 48 bits, in the year 10889. */
export const MAX_MS = 2 ** 48 - 1;

/** Words 1 and 2 with time 0: the part that all ids of a generator have in common. */
export function identityWords({ processId, mac }: MachineNode, format: LocalityFormat): [number, number] {
  const [mac2, mac3, mac4, mac5] = mac.subarray(2) as unknown as [number, number, number, number];
  const word1 = ((processId & 0xffff) << 16) | ((mac2 & 15) << 8) | mac3;
  const word2 = (mac4 << 24) | (mac5 << 16);
  return format === 'locality' ? [word1 | 0xb000, word2] : [word1 | 0x8000, (word2 & 0x3fffffff) | (1 << 31)];
}

/** The text of an id with counter and time 0 around the two words of identity. */
export function sampleId([word1, word2]: readonly [number, number]): string {
  return hyphenate([0, word1, word2, 0].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join(''));
}

/** 32 hex digits as a UUID's text. */
export function hyphenate(hex: string): string {
  return hex.replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** The common part of ids that are made in one step. */
export interface Run {
  readonly ms: number;
  /** The counter before the first id, the number that each id adds, and the way the sum is written. */
  readonly counter: number;
  readonly step: number;
  readonly spelling: Spelling;
}

/**
 * Writes `count` ids as bytes, starting at id number `first` of the view.
 *
 * Words are written little-endian, the byte order of common machines, because that is the fastest.
 */
export function writeIds(
  view: DataView,
  first: number,
  count: number,
  [high, low]: readonly [number, number],
  { ms, counter, step, spelling }: Run,
): void {
  const word1 = reverseBytes(high);
  const word2 = reverseBytes(low | Math.floor(ms / 2 ** 32));
  const word3 = reverseBytes(ms | 0);
  const forward = spelling === 'forward';
  const java = spelling === 'java';
  let value = counter;
  for (let at = first * 16, end = at + count * 16; at < end; at += 16) {
    value = (value + step) | 0;
    const digits = forward ? reverseBytes(value) : swapNibbles(value);
    view.setInt32(at, java && value < 0 ? digits | 0xf0000000 : digits, true);
    view.setInt32(at + 4, word1, true);
    view.setInt32(at + 8, word2, true);
    view.setInt32(at + 12, word3, true);
  }
}
