import { asciiText } from '#runtime';
import type { Run } from './layout.js';
import type { Position } from './position.js';

/** The number of characters of an id. */
export const ID_LENGTH = 36;
/** The number of 32-bit units, of four characters each, from one id to the next. */
const UNITS = 9;
/** The characters of the time, with its hyphen, and of the version: `0193a1b2-c3d4-7`. */
const HEAD = 15;

// The tables of characters are written byte by byte, so that a unit of four characters is right in any byte order.
const PAIR_AT_0 = numbers(2, 0);
const PAIR_AT_2 = numbers(2, 2);
const DIGIT_AT_2 = numbers(1, 2);
const DIGIT_AT_3 = numbers(1, 3);
const HYPHEN_AT_2 = unitOf('\0\0-\0');
const HYPHEN_AT_3 = unitOf('\0\0\0-');
/** The variant's digit, `8` to `b`, by the upper two bits of `b`. */
const VARIANT_AT_3 = DIGIT_AT_3.subarray(8, 12);

/** All numbers of `width` hex digits, at a place in the unit. */
function numbers(width: number, place: number): Int32Array {
  return Int32Array.from({ length: 16 ** width }, (_, number) =>
    unitOf('\0'.repeat(place) + number.toString(16).padStart(width, '0')),
  );
}

function unitOf(characters: string): number {
  const bytes = Uint8Array.from({ length: 4 }, (_, i) => characters.charCodeAt(i) || 0);
  return new Int32Array(bytes.buffer)[0] as number;
}

/**
 * A sheet of ids as text, written side by side and turned into one string. This costs a fraction of one string per id, and
 * an id cut out of the sheet is flat, not a rope.
 */
export class Sheet {
  readonly #bytes: Uint8Array;
  readonly #units: Int32Array;
  #ms = -1;
  /** The number of ids, from the left, that show the present time. */
  #shown = 0;
  /** The unit with the time's last digit, a hyphen and the version; the fourth character is empty. */
  #version = 0;

  constructor(capacity: number) {
    this.#bytes = new Uint8Array(capacity * ID_LENGTH);
    this.#units = new Int32Array(this.#bytes.buffer);
  }

  /** The `count` ids of a run, whose steps come from the random numbers from index `first` on. Moves the position on. */
  print(run: Run & Position, count: number, words: Uint32Array, first: number): string {
    this.#showTime(run.ms, count);
    const units = this.#units;
    const { highMask, lowMask, unit } = run;
    let { a, b, c } = run;
    for (let i = 0, at = 0, word = 2 * first; i < count; i++, at += UNITS, word += 2) {
      const low = c + (((words[word] as number) & lowMask) >>> 0) + unit;
      c = low >>> 0;
      b += ((words[word + 1] as number) & highMask) + (low >= 0x1_0000_0000 ? 1 : 0);
      a += b >>> 30;
      b &= 0x3fffffff;
      units[at + 3] = this.#version | (DIGIT_AT_3[a >>> 8] as number);
      units[at + 4] = (PAIR_AT_0[a & 255] as number) | HYPHEN_AT_2 | (VARIANT_AT_3[b >>> 28] as number);
      units[at + 5] =
        (PAIR_AT_0[(b >>> 20) & 255] as number) | (DIGIT_AT_2[(b >>> 16) & 15] as number) | HYPHEN_AT_3;
      units[at + 6] = (PAIR_AT_0[(b >>> 8) & 255] as number) | (PAIR_AT_2[b & 255] as number);
      units[at + 7] = (PAIR_AT_0[c >>> 24] as number) | (PAIR_AT_2[(c >>> 16) & 255] as number);
      units[at + 8] = (PAIR_AT_0[(c >>> 8) & 255] as number) | (PAIR_AT_2[c & 255] as number);
    }
    run.leave(a, b, c);
    return asciiText(this.#bytes, count * ID_LENGTH);
  }

  /** Makes the first `count` ids show the time `ms`. */
  #showTime(ms: number, count: number): void {
    if (ms !== this.#ms) {
      const digits = ms.toString(16).padStart(12, '0');
      const head = `${digits.slice(0, 8)}-${digits.slice(8)}-7`;
      for (let i = 0; i < HEAD; i++) this.#bytes[i] = head.charCodeAt(i);
      this.#bytes[HEAD] = 0;
      this.#version = this.#units[3] as number;
      this.#ms = ms;
      this.#shown = 1;
    }
    for (; this.#shown < count; this.#shown++) {
      this.#bytes.copyWithin(this.#shown * ID_LENGTH, 0, HEAD);
    }
  }
}

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
