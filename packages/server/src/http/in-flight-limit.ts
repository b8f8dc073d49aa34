import { RequestProblem } from './problem.js';

/** So many requests a second, and as many at once after a rest. */
export class Bucket {
  readonly rate: number;
  #left: number;
  #at = performance.now();

  /** @param rate requests a second */
  constructor(rate: number) {
    this.rate = rate;
    this.#left = rate;
  }

  /** @throws RequestProblem 429, with the time after which to try again, when they are used up */
  take(): void {
    const now = performance.now();
    this.#left = Math.min(this.rate, this.#left + ((now - this.#at) / 1000) * this.rate);
    this.#at = now;
    if (this.#left < 1) {
      const seconds = Math.ceil((1 - this.#left) / this.rate);
      throw new RequestProblem(
        429,
        'RATE_LIMITED',
        `this token may make ${this.rate} requests a second; try again in ${seconds} s`,
        { 'retry-after': String(seconds) },
      );
    }
    this.#left--;
  }
}

/** Lets so many requests wait for the store at a time, so that a store that is slow fills no memory. */
export class Gate {
  readonly #most: number;
  waiting = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** @throws RequestProblem 503 when there are too many */
  check(): void {
    if (this.waiting < this.#most) return;
    throw new RequestProblem(503, 'OVERLOADED', `${this.#most} requests are waiting for the store`, {
      'retry-after': '1',
    });
  }

  /** What `work` gives, counted until then. */
  async hold<T>(work: Promise<T>): Promise<T> {
    this.waiting++;
    try {
      return await work;
    } finally {
      this.waiting--;
    }
  }
}
