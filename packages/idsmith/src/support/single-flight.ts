/**
 * Runs an operation once at a time. Calls while it runs share its outcome; the next call after that runs it again.
 *
 * @example
 * readonly #reading = new SingleFlight<Status>();
 * status() { return this.#reading.run(() => this.#askServer()); }
 */
export class SingleFlight<T> {
  #running: Promise<T> | undefined;

  /** The run that is under way. */
  get running(): Promise<T> | undefined {
    return this.#running;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  run(work: () => Promise<T>): Promise<T> {
    this.#running ??= work().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }
}

/**
 * Runs an operation until it has succeeded once. Calls while it runs and all calls after the success share its result. After a
 * failure the next call runs it again.
 *
 * @example
 * readonly #tables = new OneSuccess<void>();
 * async query(sql) { await this.#tables.run(() => this.#createTables()); … }
 */
export class OneSuccess<T> {
  #result: Promise<T> | undefined;

  run(work: () => Promise<T>): Promise<T> {
    this.#result ??= work().catch((error) => {
      this.#result = undefined;
      throw error;
    });
    return this.#result;
  }
}
