import { SingleFlight } from '../support/single-flight.js';

/**
 * Tells when another store may have taken the place of the one that answered last: at first, after a failure, and after a time without an
 * answer in which a store can be stopped and started. For stores that tell their lineage in an answer of its own. While a process is busy
 * and nothing fails, that answer is not asked for again.
 */
export class Doubts {
  #raised = 0;
  /** The number of doubts that the last look has settled. */
  #settled = -1;
  #lastAnswer = 0;
  readonly #looking = new SingleFlight<void>();
  readonly #restart: number;

  /** @param restart the shortest time in which the store is stopped and another one started in its place, ms */
  constructor(restart: number) {
    this.#restart = restart;
  }

  raise(): void {
    this.#raised++;
  }

  /** Sends a request, and raises a doubt where its answer is no proof that the store is still the same. */
  async watch<T>(send: () => Promise<T>, isAnswer: (error: unknown) => boolean = () => false): Promise<T> {
    if (this.#isSilent) this.raise();
    const begun = performance.now();
    const answered = () => {
      this.#lastAnswer = performance.now();
      // The request may have waited for a connection while the store was away.
      if (this.#lastAnswer - begun >= this.#restart) this.raise();
    };
    try {
      const answer = await send();
      answered();
      return answer;
    } catch (error) {
      if (isAnswer(error)) answered();
      else this.raise();
      throw error;
    }
  }

  /** Calls `look`, which asks the store for its lineage, until no doubt is left. */
  async settle(look: () => Promise<void>): Promise<void> {
    while (this.#raised !== this.#settled || this.#isSilent)
      await this.#looking.run(async () => {
        const raised = this.#raised;
        await look();
        this.#settled = raised;
        this.#lastAnswer = performance.now();
      });
  }

  get #isSilent(): boolean {
    return performance.now() - this.#lastAnswer >= this.#restart;
  }
}
