import { onAbort } from '../support/abort.js';

interface Waiter {
  readonly count: number;
  /** Hands out the ids of this caller. */
  readonly serve: () => void;
  readonly fail: (error: unknown) => void;
}

/** The callers that wait for ids. First come, first served: nobody overtakes a large batch, and nobody waits for later callers. */
export class Waiters {
  readonly #queue = new Set<Waiter>();
  #wanted = 0;

  get isEmpty(): boolean {
    return this.#queue.size === 0;
  }

  /** The number of ids that all callers together wait for. */
  get wanted(): number {
    return this.#wanted;
  }

  /**
   * Adds a caller at the end.
   *
   * @param draw takes the ids of the caller, when `count` ids are at hand
   * @param onAborted called when the signal has removed the caller: those behind it may be served now
   * @throws the signal's reason when it is aborted; the caller then takes no id
   */
  add<T>(count: number, draw: () => T, signal: AbortSignal | undefined, onAborted: () => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        count,
        serve: () => {
          this.#remove(waiter);
          cancel();
          try {
            resolve(draw());
          } catch (error) {
            reject(error);
          }
        },
        fail: (error) => {
          this.#remove(waiter);
          cancel();
          reject(error);
        },
      };
      this.#queue.add(waiter);
      this.#wanted += count;
      const cancel = onAbort(signal, (reason) => {
        this.#remove(waiter);
        reject(reason);
        onAborted();
      });
    });
  }

  /** Serves callers in their order, until there are too few ids for the next one. */
  serve(left: () => number): void {
    for (const waiter of this.#queue) {
      if (waiter.count > left()) return;
      waiter.serve();
    }
  }

  /** Serves callers in their order. Those for whom there are too few ids get the error. */
  serveOrFail(left: () => number, error: unknown): void {
    for (const waiter of this.#queue) {
      if (waiter.count <= left()) waiter.serve();
      else waiter.fail(error);
    }
  }

  #remove(waiter: Waiter): void {
    if (this.#queue.delete(waiter)) this.#wanted -= waiter.count;
  }
}
