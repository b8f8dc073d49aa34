import { type Clock, systemClock } from '../clock.js';
import { ClosedError, hasCode, InvalidOptionError, UnsafeIntegerError } from '../errors.js';
import { type IdForm, type IdForms, requireInteger, requireKnown, show } from '../options.js';
import { onAbort, requireSignal } from '../support/abort.js';
import { report } from '../support/diagnostics.js';
import { SingleFlight } from '../support/single-flight.js';
import { systemTimer, type Timer } from '../support/timer.js';
import { endOf, IdBuffer, isBlock, joined, partOf, withOrigin } from './block.js';
import type { Block, BlockSource } from './port.js';
import type { PrefetchPolicy } from './prefetch.js';

/** Sources of time, for tests. */
export interface SequenceTime {
  /** Default the machine's clock. */
  readonly clock?: Clock | undefined;
  /** Default the runtime's own timers. */
  readonly timer?: Timer | undefined;
}

/** Options of calls that may wait. */
export interface SequenceWait {
  /** Ends the wait. The promise then rejects with the reason of the signal, and the caller takes no id. */
  readonly signal?: AbortSignal | undefined;
}

/** The ids of one sequence in this process. */
export interface SequenceStatus {
  readonly name: string;
  readonly state: 'open' | 'closed';
  /** The number of ids at hand. */
  readonly available: number;
  /** The number of ids that callers wait for. */
  readonly wanted: number;
  /** True while ids are fetched from the store. */
  readonly fetching: boolean;
  /**
   * The error of the last fetch, or of ids that could not be given back. A fetch that succeeds removes the error. `close()` does not
   * throw it, because the ids are only a gap.
   */
  readonly lastError?: unknown;
}

/** The parts of a {@link Sequence}. */
export interface SequenceSettings<F extends IdForm> {
  readonly as: F;
  readonly name: string;
  readonly source: BlockSource;
  readonly policy: PrefetchPolicy;
  readonly time: SequenceTime;
}

/** A caller that waits for ids. */
interface Waiter {
  readonly count: number;
  /** Hands out the ids of this caller. */
  serve(): void;
  fail(error: unknown): void;
}

/** The most ids of one `batch`. */
const MAX_BATCH = 2 ** 24;

/** The most ids that are handed out between two stops while a fetch is under way. */
const NEAR = 1024;

/** The time between two looks whether the ids at hand are needed, ms. */
const SECOND = 1000;

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * A sequence that hands out ids from blocks which it fetches. Made by `Sequences.get`.
 *
 * @example
 * const orders = await sequences.get('orders');
 * const id = orders.take() ?? (await orders.next());
 */
export class Sequence<F extends IdForm = 'bigint'> {
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
  readonly #as: F;
  readonly #source: BlockSource;
  readonly #policy: PrefetchPolicy;
  readonly #clock: Clock;
  /** Measures how long fetches take. */
  readonly #stopwatch: Clock;
  readonly #timer: Timer;
  readonly #onClose: () => void;
  #closing: Promise<void> | undefined;
  #isClosed = false;

  /** The ids at hand after the run. */
  readonly #buffer = new IdBuffer();
  readonly #fetching = new SingleFlight<void>();
  /** The number of all ids that were fetched and neither dropped nor given back. */
  #fetched = 0;
  /** The number of ids handed out when the last fetch began. */
  #handedOutBefore = 0;
  /** The number of calls of `fence()`. A run that was asked for before a call is dropped, too. */
  #fences = 0;
  /** The error of the last fetch or of a tail on its way back, if one of them failed since a fetch succeeded. */
  #lastError: unknown;

  /** The callers that wait. First come, first served: no caller overtakes a large batch, or waits for a later one. */
  readonly #waiters = new Set<Waiter>();
  /** The number of ids that all of them together wait for. */
  #wanted = 0;
  #isServing = false;
  /** True while a fetch is under way at whose end callers are served. */
  #isAwaited = false;

  /** Ends the next look whether the ids at hand are needed, if one is due. */
  #cancelLook: (() => void) | undefined;
  /** A tail on its way back. No fetch begins meanwhile. */
  #returning: Promise<unknown> | undefined;

  /** @internal */
  constructor({ name, as, source, policy, time }: SequenceSettings<F>, onClose: () => void) {
    this.name = name;
    this.#as = as;
    this.#source = source;
    this.#policy = policy;
    this.#clock = time.clock ?? systemClock;
    this.#stopwatch = time.clock ?? { now: () => performance.now() };
    this.#timer = time.timer ?? systemTimer;
    this.#onClose = onClose;
  }

  /**
   * Takes an id without waiting, in the type that `as` asks for. Gives `undefined` if no id is at hand, or if the ids at hand belong
   * to callers that wait.
   *
   * @throws ClosedError when the sequence is closed
   */
  take(): IdForms[F] | undefined {
    return (this.#as === 'bigint' ? this.#take() : this.#takeAsAsked()) as IdForms[F] | undefined;
  }

  #takeAsAsked(): string | number | undefined {
    return this.#as === 'number' ? this.takeNumber() : this.#take()?.toString();
  }

  #take(): bigint | undefined {
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
   * The next id, in the type that `as` asks for. All callers that wait share one fetch, and are served in the order in which they came.
   *
   * @throws SequenceExhaustedError when fewer ids are left than a block needs
   * @throws NoSuchSequenceError when the sequence has been removed
   * @throws StoreError when no id is at hand and the store fails; the next call tries again
   * @throws ClosedError when the sequence is closed
   * @throws the reason of `signal` when it is aborted; the caller then takes no id
   */
  next(options?: SequenceWait): Promise<IdForms[F]> {
    if (this.#as === 'number') return this.nextNumber(options) as Promise<IdForms[F]>;
    if (options === undefined && this.#at !== this.#stop) return Promise.resolve(this.take() as IdForms[F]);
    return this.#wait(1, () => this.take() as IdForms[F], options);
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
  async batch(count: number, options?: SequenceWait): Promise<IdForms[F][]> {
    requireInteger('count', count, 0, MAX_BATCH);
    return this.#wait(count, () => this.#takeMany(count), options);
  }

  #takeMany(count: number): IdForms[F][] {
    const ids = new Array<IdForms[F]>(count);
    for (let i = 0; i < count; i++) ids[i] = this.take() as IdForms[F];
    return ids;
  }

  /** One id after the other, until the sequence is closed. */
  [Symbol.asyncIterator](): AsyncIterator<IdForms[F], undefined> {
    return {
      next: async () => {
        try {
          return { value: await this.next(), done: false };
        } catch (error) {
          if (this.#isClosed) return { value: undefined, done: true };
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
    this.#fetched -= this.#left;
    this.#fences++;
    this.#buffer.clear();
    this.#endRun();
  }

  /** The ids at hand and the last error, for a readiness probe. Does not ask the store, and works after `close()`. */
  status(): SequenceStatus {
    return {
      name: this.name,
      state: this.#isClosed ? 'closed' : 'open',
      available: this.#left,
      wanted: this.#wanted,
      fetching: this.#fetching.isRunning,
      ...(this.#lastError !== undefined && { lastError: this.#lastError }),
    };
  }

  /**
   * Stops handing out ids and gives the ids at hand back. If another process has allocated since, or the store cannot be reached, these ids
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
    const rest = this.#restOfRun();
    this.#isClosed = true;
    this.#endRun();
    this.#cancelLook?.();
    this.#cancelLook = undefined;
    const fences = this.#fences;
    const error = this.#closedError();
    for (const waiter of this.#waiters) waiter.fail(error);
    this.#onClose();
    await this.#fetching.running?.catch(() => {});
    await this.#returning;
    const tails = joined([...(rest ? [rest] : []), ...this.#buffer.clear()]);
    // From the end on: a tail goes back only if it is the last one that the source gave.
    for (const tail of tails.reverse()) {
      const isReturned = fences === this.#fences && (await this.#giveBack(tail));
      if (!isReturned) break;
    }
    this.#report('closed', {});
  }

  #closedError(): ClosedError {
    return new ClosedError(
      `sequence ${show(this.name)} is closed: ask for it again, with ids.sequence() or sequences.get()`,
    );
  }

  /** The number of all ids at hand; 0 after the sequence is closed. */
  get #left(): number {
    return this.#isClosed ? 0 : this.#buffer.count + this.#leftOfRun();
  }

  /** Draws when it is this caller's turn and `count` ids are at hand. */
  #wait<T>(count: number, draw: () => T, options: SequenceWait | undefined): Promise<T> {
    try {
      const signal = signalOf(options);
      if (this.#isClosed) throw this.#closedError();
      const isReady = this.#waiters.size === 0 && !this.#fetching.isRunning && this.#left >= count;
      return isReady ? Promise.resolve(draw()) : this.#waitInLine(count, draw, signal);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #waitInLine<T>(count: number, draw: () => T, signal: AbortSignal | undefined): Promise<T> {
    const isFirst = this.#waiters.size === 0;
    const drawn = new Promise<T>((resolve, reject) => {
      let cancel = () => {};
      const leave = () => {
        if (this.#waiters.delete(waiter)) this.#wanted -= count;
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
      this.#waiters.add(waiter);
      this.#wanted += count;
      cancel = onAbort(signal, (reason) => {
        waiter.fail(reason);
        // Those behind a large batch may be served now.
        this.#serve();
      });
    });
    this.#keepForWaiters();
    if (this.#left < count) this.#fetchForWaiters();
    // A caller that waits only for ids would otherwise keep the process from reading the store's answer.
    else if (isFirst) void eventLoopTurn().then(() => this.#serve());
    return drawn;
  }

  /** Lets `take` find no id, so that the ids at hand stay for those who wait. */
  #keepForWaiters(): void {
    this.#stop = this.#at;
    this.#numberStop = 0;
  }

  #fetchForWaiters(): void {
    if (this.#isAwaited) return;
    this.#isAwaited = true;
    const end = (failure?: { readonly error: unknown }) => {
      this.#isAwaited = false;
      this.#serve(failure);
    };
    this.#fetch().then(
      () => end(),
      (error: unknown) => end({ error }),
    );
  }

  /** Serves callers in their order, as far as the ids at hand go. After a failed fetch, the others get its error. */
  #serve(failure?: { readonly error: unknown }): void {
    this.#isServing = true;
    for (const waiter of this.#waiters) {
      if (waiter.count <= this.#left) waiter.serve();
      else if (failure) waiter.fail(failure.error);
      else break;
    }
    this.#isServing = false;
    if (this.#waiters.size === 0) return;
    this.#keepForWaiters();
    this.#fetchForWaiters();
  }

  /** Fetches a run. Calls during a fetch share it. @throws the error of the source */
  #fetch(): Promise<void> {
    return this.#fetching.run(() => this.#load());
  }

  /** Fetches a run in the background. A failure is dropped: the next caller that needs an id fetches again and gets the error. */
  #fetchAhead(): void {
    if (!this.#isClosed && !this.#fetching.isRunning) this.#fetch().catch(() => {});
  }

  async #load(): Promise<void> {
    // Callers of the same moment are counted in.
    await this.#returning;
    if (this.#isClosed) return;
    const left = this.#left;
    const handedOut = this.#fetched - left;
    const startedAt = this.#stopwatch.now();
    const since = handedOut - this.#handedOutBefore;
    const blocks = this.#policy.blocksToFetch({
      now: startedAt,
      left,
      wanted: this.#wanted,
      handedOut: since,
    });
    const fences = this.#fences;
    try {
      const run = requireRun(this.name, await this.#source.allocate(blocks));
      const duration = this.#stopwatch.now() - startedAt;
      const { count } = run;
      this.#lastError = undefined;
      if (fences === this.#fences) {
        this.#policy.fetched({ duration, blocks, count });
        this.#handedOutBefore = handedOut;
        this.#fetched += count;
        this.#buffer.push(run);
        if (this.#source.isLast && !this.#isClosed && this.#left > this.#policy.resting) this.#lookLater();
      }
      this.#report('fetched', { blocks, count, duration });
    } catch (error) {
      this.#lastError = error;
      this.#report(hasCode(error, 'SEQUENCE_EXHAUSTED') ? 'exhausted' : 'fetch-failed', { blocks, error });
      throw error;
    }
  }

  /** Looks in a second whether the ids at hand are needed, unless a look is due. The timer does not keep the process alive. */
  #lookLater(): void {
    if (this.#cancelLook !== undefined) return;
    const before = this.#fetched - this.#left;
    const startedAt = this.#clock.now();
    const look = async () => {
      // A look that comes late is left out: the process was stopped meanwhile, and may be a copy of another one.
      const isLate = Math.abs(this.#clock.now() - startedAt - SECOND) > SECOND;
      const goesOn = isLate || (await this.#returnIdle(this.#fetched - this.#left - before));
      if (this.#cancelLook !== cancel) return;
      this.#cancelLook = undefined;
      if (goesOn) this.#lookLater();
    };
    const cancel = this.#timer.after(SECOND, () => void look(), true);
    this.#cancelLook = cancel;
  }

  /**
   * Gives back the ids at hand beyond `used`, those of the last second, and beyond a rest. Leaves all ids at hand if another process
   * has allocated since.
   *
   * @returns true if another look is needed in a second
   */
  async #returnIdle(used: number): Promise<boolean> {
    const fences = this.#fences;
    const keep = Math.max(this.#policy.resting, used);
    const isBusy = () => this.#fetching.isRunning || this.#wanted > 0 || this.#left <= keep;
    if (!isBusy()) {
      this.#policy.rested(used);
      const last = this.#buffer.last() ?? (this.#restOfRun() as Block);
      if (!(await this.#isLast(last)) || this.#isClosed || fences !== this.#fences) return false;
      if (!isBusy()) {
        this.#returning = this.#giveBack(this.#cutEnd(this.#left - keep));
        await this.#returning;
        this.#returning = undefined;
      }
    }
    return !this.#isClosed && this.#left > this.#policy.resting;
  }

  async #isLast(run: Block): Promise<boolean> {
    try {
      return (await this.#source.isLast?.(run)) ?? false;
    } catch {
      return false;
    }
  }

  /** Takes up to `count` ids off the end of the last run. They are not handed out any more. */
  #cutEnd(count: number): Block {
    const tail = this.#buffer.cutEnd(count) ?? this.#cutRun(Math.min(count, this.#leftOfRun()));
    this.#fetched -= tail.count;
    return tail;
  }

  /**
   * Gives a tail back, which is not handed out any more. If the store cannot be reached, or others have allocated since, the tail is
   * a gap: a driver may have sent the question twice, and then the answer to the second does not tell of the first.
   */
  async #giveBack(tail: Block): Promise<boolean> {
    const { first, count } = tail;
    try {
      const returned = (await this.#source.giveBack?.(tail)) ?? false;
      this.#report('given-back', { first, count, returned });
      return returned;
    } catch (error) {
      this.#lastError = error;
      this.#report('give-back-failed', { first, count, error });
      return false;
    }
  }

  #report(event: string, details: object): void {
    report('idsmith:sequence', () => ({ event, name: this.name, ...details }));
  }

  /** The slow path at `#stop`: fetches ahead if it is time, and goes on to the next run if this one is used up. */
  #lookUp(): boolean {
    if (this.#isClosed) throw this.#closedError();
    // The ids at hand belong to those who wait, and are not being drawn for them.
    if (this.#waiters.size > 0 && !this.#isServing) return false;
    if (this.#at === this.#end) {
      const run = this.#buffer.shift();
      if (run === undefined) {
        if (this.#policy.isAhead) this.#fetchAhead();
        return false;
      }
      this.#begin(run);
    }
    const { lowWater } = this.#policy;
    const left = this.#left;
    if (lowWater > 0 && left <= lowWater) this.#fetchAhead();
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

  /** Leaves the rest of the run. */
  #endRun(): void {
    this.#at = this.#stop = this.#end;
    this.#numberStop = 0;
  }

  #cutRun(count: number): Block {
    this.#end -= count;
    this.#stop = Math.min(this.#stop, this.#end);
    this.#numberStop = Math.min(this.#numberStop, this.#stop);
    return partOf(this.#run, this.#end, count);
  }

  // The slow paths are separate methods, so that engines can inline the fast ones.
  #takeSlowly(): bigint | undefined {
    return this.#lookUp() ? this.#take() : undefined;
  }

  #takeNumberSlowly(): number | undefined {
    if (this.#at === this.#stop && !this.#lookUp()) return undefined;
    if (this.#at < this.#numberStop) return this.takeNumber();
    // Not all ids of the run are exact as numbers.
    const id = this.#first + BigInt(Math.imul(this.#at, this.#step));
    if (!isSafe(id))
      throw new UnsafeIntegerError(
        `sequence ${show(this.name)}: ${id} is past ±(2^53 − 1), so it is not exact as a number: use as 'bigint' or 'string'`,
      );
    this.#at++;
    return Number(id);
  }
}

/** True if the id is exact as a number. */
export const isSafe = (id: bigint) => id <= MAX_SAFE && id >= -MAX_SAFE;

/**
 * The signal of a call.
 *
 * @throws the reason of the signal when it is aborted already
 */
function signalOf(options: SequenceWait | undefined): AbortSignal | undefined {
  if (options === undefined) return undefined;
  const signal = requireSignal(requireKnown('options', options, ['signal']).signal);
  signal?.throwIfAborted();
  return signal;
}

/** Waits until the process has read what has arrived at its sockets. */
function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}

/** A copy of the run that a source gave, after a check. Users write sources, and may use their objects again. */
function requireRun(name: string, run: Block): Block {
  if (isBlock(run)) return withOrigin({ first: run.first, step: run.step, count: run.count }, run.origin);
  const { first, step, count } = (run ?? {}) as Partial<Block>;
  throw new InvalidOptionError(
    `the source of sequence ${show(name)} must give a first id, a step and a count of at least 1, not ` +
      `${show(first)}, ${show(step)} and ${show(count)}`,
  );
}
