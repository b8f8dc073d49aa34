import { type Store, StoreError } from 'idsmith';
import { withTimeout } from 'idsmith/internal/stores';
import { wrapStore } from './history.js';

/** A call that the store has not answered in time. Nobody knows whether it was carried out, or will be. */
export class UnansweredError extends StoreError {}

/** The time for the answers that are awaited when the user stops the run, ms. Then the names of the run are removed. */
const LAST_MS = 5000;

/** Settings of an {@link AnswerLimit}. */
interface LimitOptions {
  /** True if nothing more is asked after a call without an answer. Default `false`. */
  readonly isFinal?: boolean;
  /** The end of the run. Answers that are awaited then have a few seconds. */
  readonly signal?: AbortSignal;
  /** Called with a sentence for each call without an answer. */
  onUnanswered?(text: string): void;
}

/** The longest wait for any answer of a store, so that a run ends whatever the store does. */
export class AnswerLimit {
  /** The calls that got no answer, as sentences. */
  readonly unanswered: string[] = [];
  readonly #ms: number;
  readonly #options: LimitOptions;
  readonly #stopped: Promise<never> | undefined;

  constructor(ms: number, options: LimitOptions = {}) {
    this.#ms = ms;
    this.#options = options;
    this.#stopped = options.signal && rejectionAfter(options.signal);
  }

  /** The store, whose calls reject when the limit is over. */
  on(store: Store): Store {
    return wrapStore(
      store,
      (name, _args, call) => this.wait(name, call),
      () => true,
    );
  }

  /** The result of `call`. @throws UnansweredError when the limit is over */
  async wait<T>(name: string, call: () => Promise<T>): Promise<T> {
    if (this.#options.isFinal && this.unanswered.length > 0)
      throw new UnansweredError(`${name} was not called, because the store had stopped answering`);
    const text = `${name}: no answer within ${this.#ms / 1000} s`;
    const error = () => {
      this.unanswered.push(text);
      this.#options.onUnanswered?.(text);
      return new UnansweredError(text);
    };
    const answer = withTimeout(call(), this.#ms, { error });
    return this.#stopped === undefined ? answer : Promise.race([answer, this.#stopped]);
  }
}

/** Rejects with the reason of the signal, a little after the signal was aborted. */
function rejectionAfter(signal: AbortSignal): Promise<never> {
  const rejection = new Promise<never>((_resolve, reject) => {
    const wait = () => setTimeout(() => reject(signal.reason), LAST_MS).unref();
    signal.addEventListener('abort', wait, { once: true });
  });
  rejection.catch(() => {});
  return rejection;
}
