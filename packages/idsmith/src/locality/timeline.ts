import { wholeMs } from '../clock.js';
import { LeaseFencedError, TimeExhaustedError } from '../errors.js';
import { generatorClosed, type LeaseWindow } from '../lease/window.js';
import { MAX_MS } from './layout.js';
import { claimBy, enrol, isBy, msOf } from './ledger.js';

// An example of the words used here. Two generators of one process count in sequential mode, from the same seed. Each
// counter is a *stream*. Stream 1 wants to stamp the millisecond 500 and *claims* it in the *ledger*, which then says
// "500, stream 1". Stream 2 wants 500, too, finds it claimed, and claims 501. The *fence* of stream 2 is now 500: it may not
// stamp 500 or an earlier millisecond. When stream 1 reads 500 again, it still has its claim. When stream 1 reads 501, it
// finds the claim of stream 2 and takes 502. So the two never stamp the same millisecond, and no id repeats.

/**
 * Decides which millisecond an id may carry, so that no (millisecond, counter) pair repeats.
 *
 * Within its claims a stream follows the clock, also backwards. It stays above its fence: the milliseconds that others
 * claimed before, and those that it stamped itself before its counter restarted or wrapped around. With a lease it also stays
 * within the lease's window. A call that throws changes nothing.
 */
export class Timeline {
  readonly ledger: ArrayBufferLike;
  readonly stream: number;
  readonly #claim: BigUint64Array;
  /** The number of ids before the counter's text can repeat. */
  readonly #span: number;
  /** The number of ids that may still be stamped above the present fence. */
  #left = 0;
  #fence = -1;
  /** The window of the lease, if the generator has a lease. */
  #window: LeaseWindow | undefined;
  #isClosed = false;
  /** The highest millisecond stamped with the window's node id, or −1 if there is none. */
  #highest = -1;
  // The last clock reading and the millisecond stamped for it. NaN stands for no reading: all comparisons with it are false.
  #reading = Number.NaN;
  #ms = Number.NaN;

  constructor(ledger: ArrayBufferLike, span: number) {
    this.ledger = ledger;
    this.#span = span;
    this.#claim = new BigUint64Array(ledger, 0, 1);
    this.stream = enrol(ledger);
  }

  /** Puts the fence above everything stamped so far, because the counter restarts. */
  restart(): void {
    this.#left = 0;
  }

  /**
   * Continues in a lease's window: a new window, or the present one with another end. For a stream alone in its ledger.
   *
   * Another node id begins a new timeline at the window's start. The same node id continues above its own stamps.
   */
  enter(window: LeaseWindow): void {
    const before = this.#window;
    this.#window = window;
    this.#reading = Number.NaN;
    if (before?.node === window.node && before.from === window.from) return;
    if (before?.node !== window.node) this.#highest = -1;
    Atomics.store(this.#claim, 0, claimBy(0, Math.max(window.from - 1, this.#highest)));
    this.restart();
  }

  /** Ends stamping, and returns the highest millisecond stamped with the present node id, or −1 if there is none. */
  close(): number {
    this.#isClosed = true;
    this.#reading = Number.NaN;
    return this.#highest;
  }

  /**
   * The time for the next `count` ids at a clock reading.
   *
   * @param afresh true if the counter restarts with these ids
   * @throws TimeExhaustedError when the time does not fit 48 bits
   * @throws LeaseFencedError when the time lies outside the lease's window
   * @throws ClosedError when the lease was released
   */
  stamp(reading: number, count: number, afresh = false): number {
    const spent = afresh || count > this.#left;
    if (!spent && reading >= this.#reading && reading <= this.#ms) return this.#keep(count);
    for (;;) {
      const newest = Atomics.load(this.#claim, 0);
      const mine = !spent && isBy(this.stream, newest);
      const fence = mine ? this.#fence : msOf(newest);
      const ms = Math.max(reading, fence + 1);
      this.#check(ms);
      if (!(mine && ms <= msOf(newest)) && !this.#advance(newest, ms)) continue;
      if (spent) this.#left = this.#span;
      this.#fence = fence;
      this.#highest = Math.max(this.#highest, ms);
      this.#reading = reading;
      this.#ms = ms;
      return this.#keep(count);
    }
  }

  #check(ms: number): void {
    if (this.#isClosed) throw generatorClosed();
    checkTime(ms);
    if (!this.#window) return;
    const { node, from, until } = this.#window;
    if (ms >= from && ms < until) return;
    throw new LeaseFencedError(
      `the lease of node ${node} allows times from ${from} to before ${until}, not ${ms}: the lease was not renewed, or the clock is ahead`,
    );
  }

  #keep(count: number): number {
    this.#left -= count;
    return this.#ms;
  }

  #advance(newest: bigint, ms: number): boolean {
    return Atomics.compareExchange(this.#claim, 0, newest, claimBy(this.stream, ms)) === newest;
  }
}

/** @throws TimeExhaustedError when `ms` does not fit 48 bits */
export function checkTime(ms: number): number {
  if (ms <= MAX_MS) return ms;
  throw new TimeExhaustedError(`the time ${ms} does not fit 48 bits, which end in the year 10889`);
}

/**
 * A clock reading in whole milliseconds.
 *
 * @throws ClockError when the reading is not a time
 * @throws TimeExhaustedError when the time does not fit 48 bits
 */
export function readingMs(reading: number): number {
  return checkTime(wholeMs(reading));
}
