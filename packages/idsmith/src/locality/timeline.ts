import { LeaseFencedError, TimeExhaustedError } from '../errors.js';
import type { LeaseWindow } from '../lease/window.js';
import { MAX_MS } from './layout.js';
import { claimBy, enrol, isBy, msOf } from './ledger.js';

// Words used here, by an example. Two generators of one process both count in sequential mode, from the same seed. Each
// walk of a counter is a *stream*. Stream 1 wants to stamp the millisecond 500: it *claims* it in the *ledger*, which
// then says "500, stream 1". Stream 2 wants 500 too, finds it claimed, and claims 501. Its *fence* is now 500: it may not
// stamp that or anything before. When stream 1 reads 500 again it still has its own claim; when it reads 501 it finds
// another stream's claim there and takes 502. So no millisecond is stamped by both, and no id comes twice.

/**
 * Decides which millisecond an id may carry, so that no (millisecond, counter) pair comes twice.
 *
 * Within its claims a stream follows the clock, also back. It may not go to or below its fence: what others claimed
 * before it, or what it has stamped itself before its counter was set anew or came round. With a lease it may not leave the
 * lease's window either. A call that throws changes nothing.
 */
export class Timeline {
  readonly ledger: ArrayBufferLike;
  readonly stream: number;
  readonly #claim: BigUint64Array;
  /** How many ids until the counter's texts could repeat. */
  readonly #span: number;
  /** Ids that may still be stamped above the present fence. */
  #left = 0;
  #fence = -1;
  /** The window of the lease, if there is one. */
  #window: LeaseWindow | undefined;
  #isClosed = false;
  /** The highest millisecond stamped with the window's node id, −1 if none was. */
  #highest = -1;
  // The last answer, and the reading it was given for. NaN is no reading: it is neither above, below nor equal to any.
  #reading = Number.NaN;
  #ms = Number.NaN;

  constructor(ledger: ArrayBufferLike, span: number) {
    this.ledger = ledger;
    this.#span = span;
    this.#claim = new BigUint64Array(ledger, 0, 1);
    this.stream = enrol(ledger);
  }

  /** The counter was set anew: nothing stamped so far may be stamped again. */
  restart(): void {
    this.#left = 0;
  }

  /**
   * Goes on in a lease's window: a new one, or the present one with another end. For a stream that is alone in its ledger.
   *
   * Another node id begins a new timeline, at the window's start. The same node id goes on above its own stamps.
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

  /** Stamps nothing more, and returns the highest millisecond that was stamped with the present node id, −1 if none was. */
  close(): number {
    this.#isClosed = true;
    this.#reading = Number.NaN;
    return this.#highest;
  }

  /**
   * The time for the next `count` ids, given the clock's reading.
   *
   * @param afresh whether the counter is set anew for these ids
   * @throws TimeExhaustedError when that would not fit 48 bits
   * @throws LeaseFencedError when that would lie outside the lease's window
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
    checkTime(ms);
    if (!this.#window) return;
    const { node, from, until } = this.#window;
    if (this.#isClosed) throw new LeaseFencedError(`the lease of node ${node} was released`);
    if (ms >= from && ms < until) return;
    throw new LeaseFencedError(
      `the lease of node ${node} allows times from ${from} to before ${until}, not ${ms}: it could not be extended, or the clock is ahead`,
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
  throw new TimeExhaustedError(`48 bits of time end in the year 10889, not at ${ms}`);
}
