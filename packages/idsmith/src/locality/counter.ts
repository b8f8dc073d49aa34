/** A 32-bit counter that several generators or only one may walk. */
export interface Counter {
  /** Adds `amount`, modulo 2^32, and returns the value before. */
  add(amount: number): number;
}

/** The counter of one generator. */
export class OwnCounter implements Counter {
  #value: number;

  constructor(value: number) {
    this.#value = value | 0;
  }

  add(amount: number): number {
    const before = this.#value;
    this.#value = (before + amount) | 0;
    return before;
  }
}

/** A counter in shared memory, for generators in several threads. */
export class SharedCounter implements Counter {
  readonly buffer: SharedArrayBuffer;
  readonly #cell: Int32Array;

  constructor(buffer: SharedArrayBuffer) {
    this.buffer = buffer;
    this.#cell = new Int32Array(buffer, 0, 1);
  }

  /** One in new memory, starting at `value`. */
  static startingAt(value: number): SharedCounter {
    const counter = new SharedCounter(new SharedArrayBuffer(4));
    counter.add(value);
    return counter;
  }

  add(amount: number): number {
    return Atomics.add(this.#cell, 0, amount);
  }
}
