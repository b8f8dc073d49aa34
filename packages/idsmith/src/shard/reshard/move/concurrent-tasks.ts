/** Runs tasks with a limit on the number that run at the same time. */
export class ConcurrentTasks {
  readonly #limit: number;
  readonly #running = new Set<Promise<void>>();
  #error: unknown;
  #hasFailed = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Starts a task as soon as fewer tasks run than the limit.
   *
   * @throws the error of the first task that failed
   */
  async add(task: () => Promise<void>): Promise<void> {
    while (this.#running.size >= this.#limit) await Promise.race(this.#running);
    this.throwIfFailed();
    const running = task()
      .catch((error) => {
        this.#error ??= error;
        this.#hasFailed = true;
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Waits until all tasks have ended. */
  async end(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** @throws the error of the first task that failed */
  throwIfFailed(): void {
    if (this.#hasFailed) throw this.#error;
  }
}
