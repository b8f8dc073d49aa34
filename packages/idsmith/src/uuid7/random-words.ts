import type { RandomSource } from '../random.js';
import { MAX_RUN } from './layout.js';

/** The largest number of random numbers to draw at once. */
const MAX_DRAW = MAX_RUN + 2;

/**
 * Random numbers of 64 bits that were drawn for one reading of the clock. Numbers that the reading leaves over are never
 * used, so a process that is copied (a fork, a snapshot) has none in stock when its clock moves on.
 */
export class RandomWords {
  /** The words of all numbers. The number at index `i` has the words `2 · i`, the lower half, and `2 · i + 1`. */
  readonly words = new Uint32Array(2 * MAX_DRAW);
  readonly #source: RandomSource;
  /** The reading that the numbers were drawn for. NaN equals no reading. */
  #reading = Number.NaN;
  #at = 0;
  #end = 0;

  constructor(source: RandomSource) {
    this.#source = source;
  }

  /** Takes `count` numbers for a reading, and returns the index of the first. Draws more while the reading stays. */
  take(count: number, reading: number): number {
    if (reading !== this.#reading || this.#at + count > this.#end) {
      const more = reading === this.#reading ? 2 * this.#end : 0;
      const drawn = Math.min(Math.max(count, more), MAX_DRAW);
      // The source may be code that mints with this generator. So the state changes after the call.
      this.#source.fill(new Uint8Array(this.words.buffer, 0, 8 * drawn));
      this.#reading = reading;
      this.#at = 0;
      this.#end = drawn;
    }
    const first = this.#at;
    this.#at = first + count;
    return first;
  }

  /** Discards what is left. */
  forget(): void {
    this.#reading = Number.NaN;
  }
}
