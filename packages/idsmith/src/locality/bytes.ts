import { reverseBytes, swapNibbles } from '../encoding/bits.js';
import type { Spelling } from './text.js';

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
