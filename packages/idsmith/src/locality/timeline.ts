import { claimant, claimedMs, type Ledger } from './ledger.js';

/** A seat in a ledger. `joint` streams are walked by several threads at once, on a shared counter. */
export interface Seat {
  readonly ledger: Ledger;
  readonly stream: number;
  readonly joint: boolean;
}

/**
 * Decides which millisecond an id may carry, so that no (millisecond, counter) pair comes twice.
 *
 * It is the clock's reading whenever that is safe, also after the clock stepped back. It is not safe at or
 * below the *fence*: times that were stamped before the counter was set anew, or so many ids ago that the
 * counter has come round, or by another stream of the same machine. Then the id is stamped just above it.
 */
export class Timeline {
  readonly seat: Seat | undefined;
  /** How many ids may be minted before a counter's text could repeat, halved. */
  readonly #half: number;
  #left: number;
  #fence = -1;
  #highest = -1;
  /** `#highest` as it was when the present half of the walk began. */
  #highestBefore = -1;
  // The last answer, and the reading it was given for: good until the fence moves.
  #reading = -1;
  #ms = -1;

  constructor(half: number, seat?: Seat) {
    this.#half = half;
    this.#left = half;
    this.seat = seat;
  }

  /** A time that may be stamped and has none stamped above it: where threads that join may begin. */
  get joinFrom(): number {
    return Math.max(this.#highest, this.#fence + 1);
  }

  /** The time for the next `count` ids, given the clock's reading. */
  stamp(reading: number, count: number): number {
    this.#left -= count;
    if (this.#left < 0) this.#turn(count);
    else if (reading === this.#reading) return this.#ms;
    const ms = this.seat === undefined ? this.#above(reading, this.#fence) : this.#claim(reading, this.seat);
    if (ms > this.#highest) this.#highest = ms;
    this.#reading = reading;
    this.#ms = ms;
    return ms;
  }

  /** The counter was set anew: nothing stamped so far may be stamped again. */
  restart(): void {
    this.#fence = this.#highest;
    this.#highestBefore = this.#highest;
    this.#left = this.#half;
    this.#reading = -1;
  }

  /** Half the walk is done. Ids of this half and the last differ in their counters; older ones must in time. */
  #turn(count: number): void {
    this.#fence = this.#highestBefore;
    this.#highestBefore = this.#highest;
    this.#left = this.#half - count;
  }

  #above(reading: number, fence: number): number {
    return reading > fence ? reading : fence + 1;
  }

  #claim(reading: number, { ledger, stream, joint }: Seat): number {
    for (;;) {
      const newest = ledger.newest();
      const claimed = claimedMs(newest);
      if (claimant(newest) !== stream || stream === 0) {
        // Another stream came in between; what we claimed before that is still ours alone.
        if (reading <= this.#highest && this.#highest > this.#fence) return this.#highest;
        this.#fence = claimed;
        this.#highestBefore = claimed;
      } else if (joint && this.#fence < claimed) {
        // Other threads walk this stream too, and we do not know which earlier times they have used.
        this.#fence = claimed - 1;
      }
      const ms = this.#above(reading, this.#fence);
      if (ms <= claimed || ledger.advance(newest, ms, stream)) return ms;
    }
  }
}
