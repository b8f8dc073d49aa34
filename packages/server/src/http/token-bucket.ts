import { RequestProblem } from './problem.js';

/** A token bucket: `rate` units per second, and up to `capacity` units at once after a pause. */
export class TokenBucket {
  readonly rate: number;
  readonly #capacity: number;
  readonly #what: string;
  #left: number;
  #refilledAt = performance.now();

  /**
   * @param rate units per second
   * @param what the limit in messages, such as `requests per second`
   */
  constructor(rate: number, what = requestsPerSecond(rate), capacity = rate) {
    this.rate = rate;
    this.#what = what;
    this.#capacity = capacity;
    this.#left = capacity;
  }

  /**
   * Takes `cost` units. A bucket with one unit left may go into debt, so that work of any size is done now and then.
   *
   * @throws RequestProblem 429 with `Retry-After` when the bucket is empty
   */
  take(cost = 1): void {
    const now = performance.now();
    this.#left = Math.min(this.#capacity, this.#left + ((now - this.#refilledAt) / 1000) * this.rate);
    this.#refilledAt = now;
    if (this.#left < 1) {
      const seconds = Math.ceil((1 - this.#left) / this.rate);
      throw new RequestProblem(
        429,
        'RATE_LIMITED',
        `this token is limited to ${this.#what}; try again in ${seconds} s`,
        { 'retry-after': String(seconds) },
      );
    }
    this.#left -= cost;
  }

  /** Takes more units for a request that {@link take} has let pass. */
  charge(cost: number): void {
    this.#left -= cost;
  }
}

const requestsPerSecond = (rate: number) =>
  `${rate} requests per second, where a request for many ids counts as several`;
