import { RETRY_SOON, RequestProblem } from './problem.js';

/** Limits the number of requests that wait for the store, so that a slow store does not fill the memory. */
export class InFlightLimit {
  readonly #max: number;
  #count = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** The number of requests that wait at present. */
  get count(): number {
    return this.#count;
  }

  /** @throws RequestProblem 503 when the limit is reached */
  check(): void {
    if (this.#count < this.#max) return;
    throw new RequestProblem(
      503,
      'OVERLOADED',
      `${this.#max} requests already wait for the store`,
      RETRY_SOON,
    );
  }

  /** Counts a request until `work` has settled. */
  async track<T>(work: Promise<T>): Promise<T> {
    this.#count++;
    try {
      return await work;
    } finally {
      this.#count--;
    }
  }
}
