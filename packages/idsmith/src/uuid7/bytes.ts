import type { Run } from './layout.js';
import type { Position } from './position.js';

/**
 * Writes the `count` ids of a run as bytes, starting at id number `place` of the view. The steps come from the random
 * numbers from index `first` on. Moves the position on.
 */
export function writeIds(
  view: DataView,
  place: number,
  run: Run & Position,
  count: number,
  words: Uint32Array,
  first: number,
): void {
  const { ms, highMask, lowMask, unit } = run;
  const word0 = Math.floor(ms / 2 ** 16);
  const word1 = ((ms % 2 ** 16) * 2 ** 16 + 0x7000) | 0;
  let { a, b, c } = run;
  for (let i = 0, at = 16 * place, word = 2 * first; i < count; i++, at += 16, word += 2) {
    const low = c + (((words[word] as number) & lowMask) >>> 0) + unit;
    c = low >>> 0;
    b += ((words[word + 1] as number) & highMask) + (low >= 0x1_0000_0000 ? 1 : 0);
    a += b >>> 30;
    b &= 0x3fffffff;
    view.setUint32(at, word0);
    view.setInt32(at + 4, word1 | a);
    view.setInt32(at + 8, b | (1 << 31));
    view.setInt32(at + 12, c | 0);
  }
  run.leave(a, b, c);
}
