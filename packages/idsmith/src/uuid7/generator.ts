import { processId } from '#runtime';
import { type Clock, systemClock, wholeMs } from '../clock.js';
import type { Lease } from '../lease/lease.js';
import { bindLease, generatorClosed, type LeaseWindow } from '../lease/window.js';
import { isA, refuse, requireInteger, requireKnown, requireMethod } from '../options.js';
import { type RandomSource, systemRandom } from '../random.js';
import { requireThreads } from '../support/shared-memory.js';
import { ID_LENGTH, Sheet, writeIds } from './forms.js';
import { checkTime, LEASED_NODES, MAX_RUN, type Run } from './layout.js';
import { OwnPosition, type Position } from './position.js';
import { RandomWords } from './random-words.js';

/** The options of a `Uuid7Generator`. */
export interface Uuid7Options {
  /** Default the machine's clock. */
  clock?: Clock | undefined;
  /** Default the runtime's cryptographic source. */
  random?: RandomSource | undefined;
  /** A lease, whose node id goes into the last 16 bits of ids: then ids are unique whatever the random source gives. */
  node?: Lease | undefined;
}

/**
 * The handle from `share()` for `attach()`: shared memory. Post it to worker threads, for example as `workerData`.
 */
export interface SharedUuid7 {
  /** The millisecond and the place in it that the threads have reached. */
  readonly position: SharedArrayBuffer;
}

/** Ids on a sheet of text. An id that the caller keeps holds its sheet in memory: 64 ids are 2.3 kB. */
const SHEET = 64;
/** The largest batch. More ids in one array would take over a gigabyte. */
const MAX_BATCH = 2 ** 24;

/**
 * Makes UUIDs of version 7 (RFC 9562), each larger than all before: as text, as bytes and by time.
 *
 * @example
 * const ids = new Uuid7Generator();
 * ids.next(); // '019a8b1e-5c20-7d3f-9a41-6b0c2f7e8d15'
 */
export class Uuid7Generator {
  readonly #clock: Clock;
  readonly #random: RandomWords;
  /** The lease that drives the generator, if there is one. */
  readonly lease: Lease | undefined;
  #ownsLease = false;
  #isClosed = false;
  readonly #sheet = new Sheet(SHEET);
  #position: OwnPosition | ThreadPosition;
  #handle: SharedUuid7 | undefined;
  #processId = processId();

  // Text of ids printed ahead for the clock reading `#reading`. The characters from `#at` to `#end` are unused. NaN stands
  // for no reading: it equals nothing, not even a clock's own NaN.
  #reading = Number.NaN;
  #text = '';
  #at = 0;
  #end = 0;
  #ahead = 1;

  /** @throws InvalidOptionError naming the first option that is wrong */
  constructor(options?: Uuid7Options);
  /** @internal */
  constructor(options: Uuid7Options, handle: SharedUuid7);
  constructor(options: Uuid7Options = {}, handle?: SharedUuid7) {
    if (!handle) requireOptions(options);
    this.#clock = requireMethod('clock', 'now', options.clock, systemClock);
    this.#random = new RandomWords(requireMethod('random', 'fill', options.random, systemRandom));
    this.#handle = handle;
    this.lease = options.node;
    const own = new OwnPosition();
    this.#position = handle ? requireThreads(threads).attach(handle) : own;
    // The last step, because a lease stays bound.
    if (this.lease) this.#bind(this.lease, own);
  }

  /** Makes a generator whose `close()` also releases its lease. @internal */
  static owning(lease: Lease, options: Omit<Uuid7Options, 'node'>): Uuid7Generator {
    const generator = new Uuid7Generator({ ...options, node: lease });
    generator.#ownsLease = true;
    return generator;
  }

  /**
   * Makes a generator that continues with the generator whose `share()` returned the handle, in any thread.
   *
   * @throws InvalidOptionError when the handle is not from `share()`, or an option is wrong
   */
  static attach(handle: SharedUuid7, options: Omit<Uuid7Options, 'node'> = {}): Uuid7Generator {
    requireKnown('options', options, ['clock', 'random']);
    return new Uuid7Generator(options, requireThreads(threads).requireHandle(handle));
  }

  /**
   * The next id, 36 characters in lower case.
   *
   * @throws ClockError when the clock gives no time, or ids would run more than 10 seconds ahead of the clock
   * @throws TimeExhaustedError when the time does not fit 48 bits
   * @throws LeaseFencedError when the time lies outside the lease's window
   * @throws ClosedError when the generator was closed or its lease released
   */
  next(): string {
    // The first step, because the clock may be code that mints with this very generator.
    const now = this.#clock.now();
    const at = this.#at;
    if (now === this.#reading && at < this.#end && processId() === this.#processId) {
      this.#at = at + ID_LENGTH;
      return this.#text.substring(at, at + ID_LENGTH);
    }
    return this.#printAhead(now);
  }

  /**
   * The next `count` ids, faster than one by one. `batch(0)` is an empty array.
   *
   * @throws InvalidOptionError unless `count` is a whole number from 0 to 2^24; other errors as {@link next} does
   */
  batch(count: number): string[] {
    requireInteger('count', count, 0, MAX_BATCH);
    this.#requireOpen();
    const ids = new Array<string>(count);
    for (let done = 0; done < count; ) {
      const end = Math.min(done + SHEET, count);
      const text = this.#print(this.#clock.now(), end - done);
      for (let at = 0; done < end; at += ID_LENGTH) ids[done++] = text.substring(at, at + ID_LENGTH);
    }
    return ids;
  }

  /**
   * Fills `target` with as many whole ids of 16 bytes as fit, and returns their number. Bytes after them stay as they are.
   *
   * @throws InvalidOptionError when `target` is not a `Uint8Array`; other errors as {@link next} does
   */
  fill(target: Uint8Array): number {
    if (!isA('Uint8Array', target)) refuse('target', 'a Uint8Array', target);
    this.#requireOpen();
    const count = Math.floor(target.length / 16);
    for (let done = 0; done < count; done += MAX_RUN) {
      const ids = Math.min(count - done, MAX_RUN);
      const view = new DataView(target.buffer, target.byteOffset + 16 * done, 16 * ids);
      this.#write(this.#clock.now(), view, ids);
    }
    return count;
  }

  /**
   * Moves the generator into shared memory and returns a handle for {@link attach} in worker threads. Every id is then
   * larger than all that the threads made before. A program that is bundled calls `enableThreads()` before.
   *
   * @throws InvalidOptionError when the runtime has no `SharedArrayBuffer`, or the generator has a lease
   * @throws ClosedError when the generator was closed
   */
  share(): SharedUuid7 {
    this.#requireOpen();
    if (this.#handle) return this.#handle;
    const { share, attach } = requireThreads(threads);
    this.#handle = share(this.#position.ms, this.lease !== undefined);
    this.#forget();
    this.#position = attach(this.#handle);
    return this.#handle;
  }

  /**
   * Discards all random numbers and ids that were made in advance, for hooks of a platform that copies processes. Call
   * `fence()` after a snapshot was restored, before anything is minted. With a lease, `fence()` also fences the lease.
   */
  fence(): void {
    this.#forget();
    this.#position.startAfresh();
    this.lease?.fence();
  }

  /**
   * Ends this generator: from now on it throws a `ClosedError`. Idempotent. Other threads that share it go on.
   *
   * The lease is released if `connect` acquired it. A lease that the caller gave stays as it is, but nobody mints with it any
   * more.
   *
   * @throws StoreError when the store fails; minting has ended, and the lease expires
   */
  async close(): Promise<void> {
    this.#stop();
    if (this.#ownsLease) await this.lease?.release();
  }

  /** The same as {@link close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** True when the generator was closed or its lease released. @internal */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Prints one id for a new clock reading. While calls come with the same reading, prints twice as many each time. */
  #printAhead(now: number): string {
    // Threads that share a generator print no id ahead, so that their ids come in one order.
    const count = now === this.#reading && !this.#handle ? Math.min(2 * this.#ahead, SHEET) : 1;
    const text = this.#print(now, count);
    this.#text = text;
    this.#reading = now;
    this.#ahead = count;
    this.#at = ID_LENGTH;
    // The clock or the random source may have shared the generator meanwhile.
    this.#end = this.#handle ? ID_LENGTH : count * ID_LENGTH;
    return text.substring(0, ID_LENGTH);
  }

  #print(now: number, count: number): string {
    const first = this.#prepare(now, count);
    return this.#sheet.print(this.#position, count, this.#random.words, first);
  }

  #write(now: number, view: DataView, count: number): void {
    const first = this.#prepare(now, count);
    writeIds(view, 0, this.#position, count, this.#random.words, first);
  }

  /** Claims a run of `count` ids, and returns the index of the random number for its first step. */
  #prepare(now: number, count: number): number {
    const reading = checkTime(wholeMs(now));
    if (processId() !== this.#processId) this.#leaveProcess();
    // Two numbers more, for the start of a millisecond. The source may be code that mints with this generator, so the claim
    // comes after it.
    const at = this.#random.take(count + 2, now);
    this.#requireOpen();
    this.#position.claim(reading, count, this.#random.words, 2 * at);
    // Ids that were printed ahead lie below the run.
    this.#at = this.#end = 0;
    return at + 2;
  }

  /** Shares nothing with the process that this one was copied from. */
  #leaveProcess(): void {
    this.#processId = processId();
    this.fence();
  }

  #forget(): void {
    this.#reading = Number.NaN;
    this.#at = this.#end = 0;
    this.#random.forget();
  }

  #stop(): void {
    this.#isClosed = true;
    this.#forget();
  }

  #requireOpen(): void {
    if (this.#isClosed) throw generatorClosed();
  }

  #bind(lease: Lease, position: OwnPosition): void {
    const enter = (window: LeaseWindow) => {
      requireInteger('node', window.node, 0, LEASED_NODES - 1);
      this.#forget();
      position.enter(window);
    };
    const close = () => {
      this.#stop();
      return position.lastInWindow;
    };
    enter(lease[bindLease]({ nodes: LEASED_NODES, move: enter, close }));
  }
}

/** @throws InvalidOptionError naming the first option that is not known, or a node that is not a lease */
function requireOptions(options: Uuid7Options): Uuid7Options {
  const { node } = requireKnown('options', options, ['clock', 'random', 'node']);
  if (node !== undefined && typeof node?.[bindLease] !== 'function')
    refuse('node', 'a lease from acquireLease()', node);
  return options;
}

/** The position of a generator that several threads share. */
export interface ThreadPosition extends Position, Run {
  /** Begins the next run in a millisecond of its own, above all before. */
  startAfresh(): void;
}

/** The code behind {@link Uuid7Generator.share} and {@link Uuid7Generator.attach}. */
export interface Uuid7Threads {
  /**
   * Makes shared memory for ids above the millisecond `ms`.
   *
   * @throws InvalidOptionError when the runtime has no shared memory, or there is a lease
   */
  share(ms: number, isLeased: boolean): SharedUuid7;
  /** @throws InvalidOptionError when the handle is not from `share()` */
  requireHandle(handle: SharedUuid7): SharedUuid7;
  /** The position of a handle. */
  attach(handle: SharedUuid7): ThreadPosition;
}

let threads: Uuid7Threads | undefined;

/** Gives `share()` and `attach()` their code. */
export function provideUuid7Threads(code: Uuid7Threads): Uuid7Threads {
  threads = code;
  return code;
}
