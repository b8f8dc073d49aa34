/** What is expected of a command. */
export interface Expectation {
  /** The longest time until the answer, ms; `undefined` for a command that waits for something. */
  readonly limit: number | undefined;
  /** Called when the time is over. */
  late(): void;
}

/**
 * Watches the answers on one connection. A router may forget a connection that both sides take for open: then nothing is ever
 * answered on it, and no driver replaces it. Redis answers in order, so a command without an answer in time means that, unless
 * an older command still has time.
 */
export class AnswerWatch {
  /** The commands without an answer, the oldest first, each with the number of the connection it was sent on. */
  readonly #waiting = new Map<Expectation, number>();
  readonly #renew: () => void;
  #connection = 0;

  /** @param renew replaces the connection */
  constructor(renew: () => void) {
    this.#renew = renew;
  }

  /** @returns a function to call when the command has its answer, or has failed */
  sent(expectation: Expectation): () => void {
    this.#waiting.set(expectation, this.#connection);
    const { limit } = expectation;
    const timer = limit === undefined ? undefined : setTimeout(() => this.#expire(expectation), limit);
    return () => {
      clearTimeout(timer);
      this.#waiting.delete(expectation);
    };
  }

  #expire(expectation: Expectation): void {
    const [oldest] = this.#waiting.keys();
    const connection = this.#waiting.get(expectation);
    this.#waiting.delete(expectation);
    expectation.late();
    // A command of the connection before says nothing about the new one.
    if (oldest !== expectation || connection !== this.#connection) return;
    this.#connection++;
    this.#renew();
  }
}
