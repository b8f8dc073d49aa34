import { asciiText } from '#runtime';

/** Characters of an id, and the byte where its time begins. */
export const ID_LENGTH = 36;
const TIME_AT = 24;
/** 16-bit units from one id to the next. */
const UNITS = ID_LENGTH / 2;

/** For each byte its two hex digits as one 16-bit unit, in this machine's byte order. */
const FORWARD = digitPairs((byte) => byte);
/** The same with the two digits swapped. */
const SWAPPED = digitPairs((byte) => ((byte & 15) << 4) | (byte >>> 4));
/** Swapped, and with `f` for the lower digit of what Java sees as a negative number. */
const SWAPPED_JAVA = digitPairs((byte) => ((byte & 15) << 4) | (byte >>> 4) | (byte > 127 ? 0xf0 : 0));

function digitPairs(shown: (byte: number) => number): Uint16Array {
  const pairs = new Uint16Array(256);
  const characters = new Uint8Array(pairs.buffer);
  for (let i = 0; i < 256; i++) {
    const pair = shown(i).toString(16).padStart(2, '0');
    characters[2 * i] = pair.charCodeAt(0);
    characters[2 * i + 1] = pair.charCodeAt(1);
  }
  return pairs;
}

/**
 * A sheet of ids in text, written side by side and turned into one string at once: that costs a fraction of
 * making them one by one, and an id cut out of it is flat, not a rope.
 */
export class Sheet {
  readonly #bytes: Uint8Array;
  readonly #units: Uint16Array;
  /** How many ids from the left show the present time. */
  #stamped = 0;

  /** `capacity` ids, their second word and the upper half of the third being the same in all. */
  constructor(capacity: number, word1: number, word2: number) {
    this.#bytes = new Uint8Array(capacity * ID_LENGTH).fill(45); // a hyphen
    this.#units = new Uint16Array(this.#bytes.buffer);
    this.#hex(9, word1 >>> 16, 4);
    this.#hex(14, word1 & 0xffff, 4);
    this.#hex(19, word2 >>> 16, 4);
    for (let i = 1; i < capacity; i++) this.#copyFirst(i, 0);
  }

  /** Sets the time of all ids written from now on. */
  stamp(ms: number): void {
    this.#hex(TIME_AT, Math.floor(ms / 2 ** 24), 6);
    this.#hex(TIME_AT + 6, ms % 2 ** 24, 6);
    this.#stamped = 1;
  }

  /** `count` ids in sequential mode, counting on from `counter`. */
  sequential(counter: number, count: number): string {
    for (let i = 0; i < count; i++) writeForward(this.#units, i * UNITS, (counter + i + 1) | 0);
    return this.#read(count);
  }

  /** `count` ids in variable mode: each adds `step`, and is written from its last digit to its first. */
  variable(counter: number, step: number, count: number, java: boolean): string {
    const highest = java ? SWAPPED_JAVA : SWAPPED;
    for (let i = 0, value = counter; i < count; i++) {
      value = (value + step) | 0;
      writeSwapped(this.#units, i * UNITS, value, highest);
    }
    return this.#read(count);
  }

  #read(count: number): string {
    while (this.#stamped < count) this.#copyFirst(this.#stamped++, TIME_AT);
    return asciiText(this.#bytes, count * ID_LENGTH);
  }

  /** Copies the first id from byte `from` on to the id at `index`. */
  #copyFirst(index: number, from: number): void {
    this.#bytes.copyWithin(index * ID_LENGTH + from, from, ID_LENGTH);
  }

  #hex(at: number, value: number, digits: number): void {
    for (let i = digits - 1, rest = value; i >= 0; i--, rest >>>= 4) {
      this.#bytes[at + i] = '0123456789abcdef'.charCodeAt(rest & 15);
    }
  }
}

function writeForward(units: Uint16Array, at: number, value: number): void {
  units[at] = FORWARD[value >>> 24] as number;
  units[at + 1] = FORWARD[(value >>> 16) & 255] as number;
  units[at + 2] = FORWARD[(value >>> 8) & 255] as number;
  units[at + 3] = FORWARD[value & 255] as number;
}

function writeSwapped(units: Uint16Array, at: number, value: number, highest: Uint16Array): void {
  units[at] = SWAPPED[value & 255] as number;
  units[at + 1] = SWAPPED[(value >>> 8) & 255] as number;
  units[at + 2] = SWAPPED[(value >>> 16) & 255] as number;
  units[at + 3] = highest[value >>> 24] as number;
}
