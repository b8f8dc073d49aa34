import { asciiText } from '#runtime';
import { reverseBytes, swapNibbles } from '../encoding/bits.js';

/** Characters of an id, of which the last twelve are its time. */
export const ID_LENGTH = 36;
const TIME_AT = 24;
/** 16-bit units from one id to the next. */
const UNITS = ID_LENGTH / 2;

/** For each byte its two hex digits, last one first, as one 16-bit unit in this machine's byte order. */
const PAIRS = new Uint16Array(256);
/** The same, with `f` for the lower digit of a byte that Java takes for negative. */
const JAVA_PAIRS = new Uint16Array(256);

const digit = (value: number) => (value & 15).toString(16).charCodeAt(0);
const characters = new Uint8Array(PAIRS.buffer);
for (let i = 0; i < 256; i++) {
  characters[2 * i] = digit(i);
  characters[2 * i + 1] = digit(i >> 4);
}
JAVA_PAIRS.set(PAIRS);
for (let i = 128; i < 256; i++) JAVA_PAIRS[i] = PAIRS[i | 15] as number;

/**
 * A sheet of ids in text, written side by side and turned into one string at once: that costs a fraction of
 * making them one by one, and an id cut out of it is flat, not a rope.
 */
export class Sheet {
  readonly #bytes: Uint8Array;
  readonly #units: Uint16Array;
  #ms = -1;
  /** How many ids from the left show the present time. */
  #stamped = 0;

  /** A sheet of `capacity` ids that are like `sample` but for counter and time. */
  constructor(capacity: number, sample: string) {
    this.#bytes = Uint8Array.from({ length: capacity * ID_LENGTH }, (_, i) =>
      sample.charCodeAt(i % ID_LENGTH),
    );
    this.#units = new Uint16Array(this.#bytes.buffer);
  }

  /**
   * `count` ids at time `ms`, each adding `step` to `counter`. Its eight digits are written from the last to the first,
   * or as they are if `forward`.
   */
  print(ms: number, counter: number, count: number, step: number, forward: boolean, java: boolean): string {
    const units = this.#units;
    const highest = java ? JAVA_PAIRS : PAIRS;
    for (let i = 0, at = 0, value = counter; i < count; i++, at += UNITS) {
      value = (value + step) | 0;
      const digits = forward ? reverseBytes(swapNibbles(value)) : value;
      units[at] = PAIRS[digits & 255] as number;
      units[at + 1] = PAIRS[(digits >>> 8) & 255] as number;
      units[at + 2] = PAIRS[(digits >>> 16) & 255] as number;
      units[at + 3] = highest[digits >>> 24] as number;
    }
    this.#stamp(ms, count);
    return asciiText(this.#bytes, count * ID_LENGTH);
  }

  /** Makes the first `count` ids show the time `ms`. */
  #stamp(ms: number, count: number): void {
    if (ms !== this.#ms) {
      const digits = ms.toString(16).padStart(12, '0');
      for (let i = 0; i < 12; i++) this.#bytes[TIME_AT + i] = digits.charCodeAt(i);
      this.#ms = ms;
      this.#stamped = 1;
    }
    for (; this.#stamped < count; this.#stamped++) {
      this.#bytes.copyWithin(this.#stamped * ID_LENGTH + TIME_AT, TIME_AT, ID_LENGTH);
    }
  }
}
