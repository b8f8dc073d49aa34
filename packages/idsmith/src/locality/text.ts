import { asciiText } from '#runtime';
import { reverseBytes, swapNibbles } from '../encoding/hex.js';

/** The number of characters of an id. The last twelve are its time. */
export const ID_LENGTH = 36;
const TIME_AT = 24;
/** The number of 32-bit units from one id to the next. */
const UNITS = ID_LENGTH / 4;

// The two hex digits of each byte, last digit first, as the first or the second half of a unit of four characters. The
// tables are written byte by byte, so that a unit is right in any byte order.
const FIRST = new Int32Array(256);
const SECOND = new Int32Array(256);
for (let i = 0; i < 256; i++) {
  const digits = [i & 15, i >> 4].map((digit) => digit.toString(16).charCodeAt(0));
  new Uint8Array(FIRST.buffer).set(digits, 4 * i);
  new Uint8Array(SECOND.buffer).set(digits, 4 * i + 2);
}
/** The second half as Java writes it: the lower digit of a byte above 127, which is negative in Java, is `f`. */
const SECOND_JAVA = SECOND.map((unit, i) => (i > 127 ? (SECOND[i | 15] as number) : unit));

/** The order of a counter's eight digits: first to last, last to first, or last to first with Java's loss of four bits. */
export type Spelling = 'forward' | 'reverse' | 'java';

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

  /** Makes a sheet of `capacity` ids that differ from `sample` only in counter and time. */
  constructor(capacity: number, sample: string) {
    this.#bytes = Uint8Array.from({ length: capacity * ID_LENGTH }, (_, i) =>
      sample.charCodeAt(i % ID_LENGTH),
    );
    this.#units = new Int32Array(this.#bytes.buffer);
  }

  /** `count` ids at time `ms`, each adding `step` to `counter`. */
  print(ms: number, counter: number, count: number, step: number, spelling: Spelling): string {
    const units = this.#units;
    const forward = spelling === 'forward';
    const second = spelling === 'java' ? SECOND_JAVA : SECOND;
    for (let i = 0, at = 0, value = counter; i < count; i++, at += UNITS) {
      value = (value + step) | 0;
      const digits = forward ? reverseBytes(swapNibbles(value)) : value;
      units[at] = (FIRST[digits & 255] as number) | (SECOND[(digits >>> 8) & 255] as number);
      units[at + 1] = (FIRST[(digits >>> 16) & 255] as number) | (second[digits >>> 24] as number);
    }
    this.#showTime(ms, count);
    return asciiText(this.#bytes, count * ID_LENGTH);
  }

  /** Makes the first `count` ids show the time `ms`. */
  #showTime(ms: number, count: number): void {
    if (ms !== this.#ms) {
      const digits = ms.toString(16).padStart(12, '0');
      for (let i = 0; i < 12; i++) this.#bytes[TIME_AT + i] = digits.charCodeAt(i);
      this.#ms = ms;
      this.#shown = 1;
    }
    for (; this.#shown < count; this.#shown++) {
      this.#bytes.copyWithin(this.#shown * ID_LENGTH + TIME_AT, TIME_AT, ID_LENGTH);
    }
  }
}
