import { ClosedError, UnsafeIntegerError } from '../errors.js';
import { requireInteger, show } from '../options.js';
import { report } from '../support/diagnostics.js';
import { endOf, partOf } from './block.js';
import type { Block } from './port.js';
import type { SequenceStatus } from './status.js';
import { Supply, type SupplySettings } from './supply.js';
import { type SequenceWait, signalOf } from './wait.js';
import { Waiters } from './waiters.js';

/** The most ids of one `batch`. */
const MAX_BATCH = 2 ** 24;

/** The most ids that are handed out between two stops while a fetch is under way. */
const NEAR = 1024;

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * A sequence that hands out ids from blocks which it fetches. Made by `Sequences.get`.
 *
 * @example
 * const orders = await sequences.get('orders');
 * const id = orders.take() ?? (await orders.next());
 */
export class Sequence {
  // The run that is being handed out: its id number `#at` is `#first + #at · #step`. Only `#at` changes. The product has 32 bits, so
  // that engines calculate with machine integers. At `#stop` the slow path takes over: at the end of the run, or earlier where more
  // ids should be fetched.
  #run: Block = { first: 0n, step: 1, count: 0 };
  #first = 0n;
  #firstNumber = 0;
  #step = 1;
  #at = 0;
  #stop = 0;
  #end = 0;
  /** The same as `#stop` if all ids of the run are exact as numbers; otherwise 0. */
  #numberStop = 0;

  readonly name: string;
  readonly #supply: Supply;
  readonly #onClose: () => void;
  #closing: Promise<void> | undefined;
  readonly #waiters = new Waiters({
    left: () => this.#supply.left,
    fetch: () => this.#supply.fetch(),
    hold: () => {
      this.#stop = this.#at;
      this.#numberStop = 0;
    },
  });

  /** @internal */
  constructor(settings: SupplySettings, onClose: () => void) {
    this.name = settings.name;
    this.#supply = new Supply(settings, {
      left: () => this.#leftOfRun(),
      rest: () => this.#restOfRun(),
      cut: (count) => this.#cut(count),
      wanted: () => this.#waiters.wanted,
    });
    this.#onClose = onClose;
  }

  /**
   * Takes an id without waiting. Gives `undefined` if no id is at hand, or if the ids at hand belong to callers that wait.
   *
   * @throws ClosedError when the sequence is closed
   */
  take(): bigint | undefined {
    const at = this.#at;
    if (at === this.#stop) return this.#takeSlowly();
    this.#at = at + 1;
    return this.#first + BigInt(Math.imul(at, this.#step));
  }

  /**
   * Takes an id as a number, without waiting.
   *
   * @throws UnsafeIntegerError if the id is past ±(2^53 − 1); the id stays at hand for `take`
   * @throws ClosedError when the sequence is closed
   */
  takeNumber(): number | undefined {
    const at = this.#at;
    if (at >= this.#numberStop) return this.#takeNumberSlowly();
    this.#at = at + 1;
    return this.#firstNumber + Math.imul(at, this.#step);
  }

  /**
   * The next id. All callers that wait share one fetch, and are served in the order in which they came.
   *
   * @throws SequenceExhaustedError when fewer ids are left than a block needs
   * @throws NoSuchSequenceError when the sequence has been removed
   * @throws StoreError when no id is at hand and the store fails; the next call tries again
   * @throws ClosedError when the sequence is closed
   * @throws the reason of `signal` when it is aborted; the caller then takes no id
   */
  next(options?: SequenceWait): Promise<bigint> {
    if (options === undefined && this.#at !== this.#stop) return Promise.resolve(this.take() as bigint);
    return this.#wait(1, () => this.take() as bigint, options);
  }

  /**
   * The next id as a number.
   *
   * @throws UnsafeIntegerError if the id is past ±(2^53 − 1); the id stays at hand for `next`
   * @throws as {@link next} does
   */
  nextNumber(options?: SequenceWait): Promise<number> {
    if (options === undefined && this.#at < this.#numberStop)
      return Promise.resolve(this.takeNumber() as number);
    return this.#wait(1, () => this.takeNumber() as number, options);
  }

  /**
   * The next `count` ids, in the order of the sequence. While the batch waits, ids at hand are kept for it.
   *
   * @throws as {@link next} does; the ids at hand stay there
   */
  async batch(count: number, options?: SequenceWait): Promise<bigint[]> {
    requireInteger('count', count, 0, MAX_BATCH);
    return this.#wait(count, () => this.#takeMany(count), options);
  }

  #takeMany(count: number): bigint[] {
    const ids = new Array<bigint>(count);
    for (let i = 0; i < count; i++) ids[i] = this.take() as bigint;
    return ids;
  }

  /** One id after the other, until the sequence is closed. */
  [Symbol.asyncIterator](): AsyncIterator<bigint, undefined> {
    return {
      next: async () => {
        try {
          return { value: await this.next(), done: false };
        } catch (error) {
          if (this.#closing) return { value: undefined, done: true };
          throw error;
        }
      },
    };
  }

  /**
   * Drops the ids at hand, for hooks of a platform that copies processes. Call `fence()` after a snapshot was restored, before
   * an id is taken: other copies have the same ids at hand. The dropped ids are a gap. The next id comes from a new block.
   * Does nothing after `close()`.
   */
  fence(): void {
    this.#supply.drop();
    this.#at = this.#stop = this.#end;
    this.#numberStop = 0;
  }

  /** The ids at hand and the last error, for a readiness probe. Asks nobody, and works after `close()`. */
  status(): SequenceStatus {
    const { left, isFetching, lastError } = this.#supply;
    return {
      name: this.name,
      state: this.#closing ? 'closed' : 'open',
      available: left,
      wanted: this.#waiters.wanted,
      fetching: isFetching,
      ...(lastError !== undefined && { lastError }),
    };
  }

  /**
   * Stops handing out ids and gives the ids at hand back. If somebody has allocated since, or the store cannot be reached, these ids
   * are a gap, and `status().lastError` tells the error of the store. Callers that wait get a `ClosedError`. A second call does nothing.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** The same as {@link close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    const tail = this.#restOfRun();
    this.#at = this.#stop = this.#end;
    this.#numberStop = 0;
    const closed = this.#supply.close(tail);
    this.#waiters.close(this.#closedError());
    this.#onClose();
    await closed;
    report('idsmith:sequence', () => ({ event: 'closed', name: this.name }));
  }

  #closedError(): ClosedError {
    return new ClosedError(`sequence ${show(this.name)} is closed: get it again with Sequences.get()`);
  }

  /** Draws when it is this caller's turn and `count` ids are at hand. */
  #wait<T>(count: number, draw: () => T, options: SequenceWait | undefined): Promise<T> {
    try {
      const signal = signalOf(options);
      if (this.#closing) throw this.#closedError();
      const isReady = this.#waiters.isEmpty && !this.#supply.isFetching && this.#supply.left >= count;
      return isReady ? Promise.resolve(draw()) : this.#waiters.add(count, draw, signal);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** The slow path at `#stop`: fetches ahead if it is time, and goes on to the next run if this one is used up. */
  #lookUp(): boolean {
    if (this.#closing) throw this.#closedError();
    if (this.#waiters.isHolding) return false;
    if (this.#at === this.#end) {
      const run = this.#supply.shift();
      if (run === undefined) {
        if (this.#supply.isAhead) this.#supply.fetchAhead();
        return false;
      }
      this.#begin(run);
    }
    const { lowWater, left } = this.#supply;
    if (lowWater > 0 && left <= lowWater) this.#supply.fetchAhead();
    // The next stop is where few ids are left. While a fetch is under way, stops are near, so that the event loop can turn.
    const rest = this.#leftOfRun();
    const ahead = Math.min(rest, left > lowWater ? left - lowWater : Math.min(NEAR, Math.ceil(rest / 2)));
    this.#stop = lowWater > 0 ? this.#at + ahead : this.#end;
    this.#numberStop = isSafe(this.#first) && isSafe(endOf(this.#run)) ? this.#stop : 0;
    return true;
  }

  #begin(run: Block): void {
    this.#run = run;
    this.#first = run.first;
    this.#firstNumber = Number(run.first);
    this.#step = run.step;
    this.#at = 0;
    // `| 0` tells the engine that this is a number of 32 bits.
    this.#end = run.count | 0;
  }

  #leftOfRun(): number {
    return this.#end - this.#at;
  }

  #restOfRun(): Block | undefined {
    const left = this.#leftOfRun();
    return left > 0 ? partOf(this.#run, this.#at, left) : undefined;
  }

  /** Takes ids off the end of the run. Nobody hands them out any more. */
  #cut(count: number): Block {
    this.#end -= count;
    this.#stop = Math.min(this.#stop, this.#end);
    this.#numberStop = Math.min(this.#numberStop, this.#stop);
    return partOf(this.#run, this.#end, count);
  }

  // The slow paths are separate methods, so that engines can inline the fast ones.
  #takeSlowly(): bigint | undefined {
    return this.#lookUp() ? this.take() : undefined;
  }

  #takeNumberSlowly(): number | undefined {
    if (this.#at === this.#stop && !this.#lookUp()) return undefined;
    if (this.#at < this.#numberStop) return this.takeNumber();
    // Not all ids of the run are exact as numbers.
    const id = this.#first + BigInt(Math.imul(this.#at, this.#step));
    if (!isSafe(id))
      throw new UnsafeIntegerError(
        `sequence ${show(this.name)}: ${id} is past ±(2^53 − 1), so it is not exact as a number: use next() or take()`,
      );
    this.#at++;
    return Number(id);
  }
}

const isSafe = (id: bigint) => id <= MAX_SAFE && id >= -MAX_SAFE;
