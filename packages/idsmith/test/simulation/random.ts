/** Repeatable randomness: the same seed gives the same numbers for ever. */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    this.#state = Math.imul(seed + 1, 0x2545f491);
  }

  /** 32 bits: a counter with an odd step, its bits then stirred. */
  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let bits = this.#state;
    bits = Math.imul(bits ^ (bits >>> 16), 0x7feb352d);
    bits = Math.imul(bits ^ (bits >>> 15), 0x1b873593);
    return (bits ^ (bits >>> 16)) >>> 0;
  }

  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + (this.#next() % (high - low + 1));
  }

  /** True so often: 0 never, 1 always. */
  chance(probability: number): boolean {
    return this.#next() < probability * 2 ** 32;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.between(0, items.length - 1)] as T;
  }

  fill(target: Uint8Array): void {
    for (let i = 0; i < target.length; i++) target[i] = this.#next() & 0xff;
  }
}
