import { onAbort } from '../support/abort.js';

/** Something that is being opened for callers who wait for it. */
export class SharedOpening<T> {
  /** The opened value; `undefined` until it is there. */
  value: T | undefined;
  readonly #promise: Promise<T>;
  readonly #controller = new AbortController();
  #callers = 0;

  /** @param undo gives back a value that came after the end of the opening */
  constructor(open: (signal: AbortSignal) => Promise<T>, undo: (value: T) => Promise<void>) {
    const { signal } = this.#controller;
    this.#promise = open(signal).then(async (value) => {
      if (signal.aborted) {
        await undo(value);
        throw signal.reason;
      }
      this.value = value;
      return value;
    });
  }

  /** True when the opening was ended early. */
  get isEnded(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Calls `fn` with the error if the opening fails. */
  onFailure(fn: (error: unknown) => void): void {
    this.#promise.catch(fn);
  }

  /** Calls `fn` when the opening has succeeded or failed. */
  onSettled(fn: () => void): void {
    this.#promise.then(fn, fn);
  }

  /** Ends the opening. Resolves with the value if it was there before, with `undefined` if not. */
  async end(reason: unknown): Promise<T | undefined> {
    this.#controller.abort(reason);
    return this.#promise.catch(() => undefined);
  }

  /**
   * The value, for one more caller. When the last caller who waits is aborted, the opening ends.
   *
   * @throws the reason of the signal when it is aborted
   */
  get(signal: AbortSignal | undefined): Promise<T> {
    this.#callers++;
    return new Promise((resolve, reject) => {
      const cancel = onAbort(signal, (reason) => {
        // The end of the opening settles the promise of the last caller, so that nothing is held then.
        if (--this.#callers === 0 && this.value === undefined) this.#controller.abort(reason);
        else reject(reason);
      });
      this.#promise.then(resolve, reject).finally(cancel);
    });
  }
}
