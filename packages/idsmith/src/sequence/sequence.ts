import { UnsafeIntegerError } from '../errors.js';
import { requireInteger, show } from '../options.js';
import { endOf, partOf } from './block.js';
import type { Block, BlockSource } from './port.js';
import type { PrefetchPolicy } from './prefetch.js';
import { Supply } from './supply.js';

/** The most ids of one `batch`. */
const MAX_BATCH = 2 ** 24;

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
  /** Batches are filled one after the other. While a batch lacks ids, the ids at hand are reserved for it. */
  #lastBatch: Promise<unknown> | undefined;
  #isReserved = false;

  /** @internal */
  constructor(name: string, source: BlockSource, policy: PrefetchPolicy, onClose: () => void = () => {}) {
    this.name = name;
    this.#supply = new Supply(name, source, policy, () => this.#leftOfRun());
    this.#onClose = onClose;
  }

  /** Takes an id without waiting. Gives `undefined` if no id is at hand, or the sequence is closed. */
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
   */
  takeNumber(): number | undefined {
    const at = this.#at;
    if (at >= this.#numberStop) return this.#takeNumberSlowly();
    this.#at = at + 1;
    return this.#firstNumber + Math.imul(at, this.#step);
  }

  /**
   * The next id. All callers that wait share one fetch.
   *
   * @throws SequenceExhaustedError when fewer ids are left than a block needs
   * @throws NoSuchSequenceError when the sequence has been removed
   * @throws StoreError when no id is at hand and the store fails; the next call tries again
   * @throws InvalidOptionError when the sequence is closed
   */
  next(): Promise<bigint> {
    if (this.#at !== this.#stop) return Promise.resolve(this.take() as bigint);
    return this.#await(() => this.take());
  }

  /**
   * The next id as a number.
   *
   * @throws UnsafeIntegerError if the id is past ±(2^53 − 1); the id stays at hand for `next`
   * @throws as {@link next} does
   */
  nextNumber(): Promise<number> {
    if (this.#at < this.#numberStop) return Promise.resolve(this.takeNumber() as number);
    return this.#await(() => this.takeNumber());
  }

  /**
   * The next `count` ids, in the order of the sequence. While the batch waits, ids at hand are kept for it.
   *
   * @throws as {@link next} does; the ids at hand stay there
   */
  batch(count: number): Promise<bigint[]> {
    try {
      requireInteger('count', count, 0, MAX_BATCH);
    } catch (error) {
      return Promise.reject(error);
    }
    const before = this.#lastBatch;
    const batch = this.#inTurn(before, count);
    this.#lastBatch = batch.catch(() => {});
    return batch;
  }

  async #inTurn(before: Promise<unknown> | undefined, count: number): Promise<bigint[]> {
    await before;
    while (this.#supply.left < count || this.#supply.isClosed) {
      this.#isReserved = true;
      this.#stop = this.#at;
      this.#numberStop = 0;
      try {
        await this.#wanting(count - this.#supply.left, () => this.#supply.fetch());
      } finally {
        this.#isReserved = false;
      }
    }
    const ids = new Array<bigint>(count);
    for (let i = 0; i < count; i++) ids[i] = this.take() as bigint;
    return ids;
  }

  /** One id after the other, until the sequence is closed. */
  [Symbol.asyncIterator](): AsyncIterator<bigint, undefined> {
    return {
      next: () => {
        if (this.#supply.isClosed) return Promise.resolve({ value: undefined, done: true });
        return this.next().then(
          (value) => ({ value, done: false }),
          (error: unknown) => {
            if (this.#supply.isClosed) return { value: undefined, done: true };
            throw error;
          },
        );
      },
    };
  }

  /**
   * Drops the ids at hand, for hooks of a platform that copies processes. Call `fence()` after a snapshot was restored, before
   * an id is taken: other copies have the same ids at hand. The dropped ids are a gap. The next id comes from a new block.
   */
  fence(): void {
    this.#at = this.#stop = this.#end;
    this.#numberStop = 0;
    this.#supply.drop();
  }

  /**
   * Stops handing out ids and gives the ids at hand back. If somebody has allocated since, or the store cannot be reached, these ids
   * are a gap. A second call does nothing.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const left = this.#leftOfRun();
    const tail = left > 0 ? partOf(this.#run, this.#at, left) : undefined;
    this.#at = this.#stop = this.#end;
    this.#numberStop = 0;
    this.#onClose();
    await this.#supply.close(tail);
  }

  /** Waits until `take` gives an id. */
  #await<T>(take: () => T | undefined): Promise<T> {
    return this.#wanting(1, async () => {
      // A caller that waits only for ids would otherwise keep the process from reading the store's answer.
      if (this.#supply.isFetching && this.#leftOfRun() > 0) await eventLoopTurn();
      for (;;) {
        const id = take();
        if (id !== undefined) return id;
        if (this.#isReserved) await this.#lastBatch;
        else await this.#supply.fetch();
      }
    });
  }

  /** Tells the supply that `count` more ids are waited for, as long as `work` takes. */
  async #wanting<T>(count: number, work: () => Promise<T>): Promise<T> {
    this.#supply.wanted += count;
    try {
      return await work();
    } finally {
      this.#supply.wanted -= count;
    }
  }

  /** The slow path at `#stop`: fetches ahead if it is time, and goes on to the next run if this one is used up. */
  #lookUp(): boolean {
    if (this.#isReserved || this.#supply.isClosed) return false;
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
    // The next stop is where few ids are left, or else half-way to the end.
    const rest = this.#leftOfRun();
    const ahead = left > lowWater ? Math.min(rest, left - lowWater) : Math.ceil(rest / 2);
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

function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}
