import { RequestProblem } from '../http/problem.js';

/** A token bucket: `rate` requests per second, and up to `rate` requests at once after a pause. */
export class RateLimit {
  readonly rate: number;
  #left: number;
  #refilledAt = performance.now();

  /** @param rate requests per second */
  constructor(rate: number) {
    this.rate = rate;
    this.#left = rate;
  }

  /** @throws RequestProblem 429 with `Retry-After` when the bucket is empty */
  take(): void {
    const now = performance.now();
    this.#left = Math.min(this.rate, this.#left + ((now - this.#refilledAt) / 1000) * this.rate);
    this.#refilledAt = now;
    if (this.#left < 1) {
      const seconds = Math.ceil((1 - this.#left) / this.rate);
      throw new RequestProblem(
        429,
        'RATE_LIMITED',
        `this token is limited to ${this.rate} requests per second; try again in ${seconds} s`,
        { 'retry-after': String(seconds) },
      );
    }
    this.#left--;
  }
}
