import { onAbort } from '../support/abort.js';
import { eventLoopTurn } from './wait.js';

interface Waiter {
  readonly count: number;
  /** Hands out the ids of this caller. */
  serve(): void;
  fail(error: unknown): void;
}

/** The ids that {@link Waiters} wait for. */
interface Stock {
  /** The number of ids at hand. */
  left(): number;
  fetch(): Promise<void>;
  /** Keeps the ids at hand for those who wait. */
  hold(): void;
}

/** The callers that wait for ids. First come, first served: nobody overtakes a large batch, and nobody waits for later callers. */
export class Waiters {
  readonly #stock: Stock;
  readonly #queue = new Set<Waiter>();
  #wanted = 0;
  #isServing = false;
  #isFetching = false;

  constructor(stock: Stock) {
    this.#stock = stock;
  }

  get isEmpty(): boolean {
    return this.#queue.size === 0;
  }

  /** True while the ids at hand belong to those who wait, and are not being drawn for them. */
  get isHolding(): boolean {
    return this.#queue.size > 0 && !this.#isServing;
  }

  /** The number of ids that all callers together wait for. */
  get wanted(): number {
    return this.#wanted;
  }

  /**
   * Adds a caller at the end of the line.
   *
   * @param draw takes the ids of the caller, when `count` ids are at hand
   * @throws the signal's reason when it is aborted; the caller then takes no id
   */
  add<T>(count: number, draw: () => T, signal: AbortSignal | undefined): Promise<T> {
    const isFirst = this.isEmpty;
    const drawn = new Promise<T>((resolve, reject) => {
      let cancel = () => {};
      const leave = () => {
        if (this.#queue.delete(waiter)) this.#wanted -= count;
        cancel();
      };
      const waiter: Waiter = {
        count,
        serve: () => {
          leave();
          try {
            resolve(draw());
          } catch (error) {
            reject(error);
          }
        },
        fail: (error) => {
          leave();
          reject(error);
        },
      };
      this.#queue.add(waiter);
      this.#wanted += count;
      cancel = onAbort(signal, (reason) => {
        waiter.fail(reason);
        // Those behind a large batch may be served now.
        this.#serve();
      });
    });
    this.#stock.hold();
    if (this.#stock.left() < count) this.#fetch();
    // A caller that waits only for ids would otherwise keep the process from reading the store's answer.
    else if (isFirst) void eventLoopTurn().then(() => this.#serve());
    return drawn;
  }

  /** Refuses all callers. */
  close(error: unknown): void {
    for (const waiter of this.#queue) waiter.fail(error);
  }

  #fetch(): void {
    if (this.#isFetching) return;
    this.#isFetching = true;
    const end = (failure?: { readonly error: unknown }) => {
      this.#isFetching = false;
      this.#serve(failure);
    };
    this.#stock.fetch().then(
      () => end(),
      (error: unknown) => end({ error }),
    );
  }

  /** Serves callers in their order, as far as the ids at hand go. After a failed fetch, the others get its error. */
  #serve(failure?: { readonly error: unknown }): void {
    this.#isServing = true;
    for (const waiter of this.#queue) {
      if (waiter.count <= this.#stock.left()) waiter.serve();
      else if (failure) waiter.fail(failure.error);
      else break;
    }
    this.#isServing = false;
    if (this.isEmpty) return;
    this.#stock.hold();
    this.#fetch();
  }
}
