import { TimeExhaustedError } from '../errors.js';
import { isA } from '../options.js';
import { MAX_MS } from './layout.js';

// Words used here, by an example. Two generators of one process both count in sequential mode, from the same seed. Each
// walk of a counter is a *stream*. Stream 1 wants to stamp the millisecond 500: it *claims* it in the *ledger*, which
// then says "500, stream 1". Stream 2 wants 500 too, finds it claimed, and claims 501. Its *fence* is now 500: it may not
// stamp that or anything before. When stream 1 reads 500 again it still has its own claim; when it reads 501 it finds
// another stream's claim there and takes 502. So no millisecond is stamped by both, and no id comes twice.

// A ledger is 16 bytes of memory, private or shared by threads: in the first eight the highest millisecond claimed
// (48 bits) and the stream that claimed it (15 bits), then how many streams there are.
const STREAM_BITS = 15n;
const MAX_STREAM = 2n ** STREAM_BITS - 1n;
const LEDGER_BYTES = 16;

/** A ledger for streams of one thread. */
export const privateLedger = (): ArrayBufferLike => new ArrayBuffer(LEDGER_BYTES);

/** The same ledger if threads can share it already, else a copy that they can. */
export function sharedLedger(ledger: ArrayBufferLike): SharedArrayBuffer {
  if (isA('SharedArrayBuffer', ledger)) return ledger as SharedArrayBuffer;
  const shared = new SharedArrayBuffer(LEDGER_BYTES);
  new Uint8Array(shared).set(new Uint8Array(ledger));
  return shared;
}

/**
 * Decides which millisecond an id may carry, so that no (millisecond, counter) pair comes twice.
 *
 * Within its claims a stream follows the clock, also back. It may not go to or below its fence: what others claimed
 * before it, or what it has stamped itself before its counter was set anew or came round.
 */
export class Timeline {
  readonly ledger: ArrayBufferLike;
  readonly stream: number;
  readonly #claim: BigInt64Array;
  /** How many ids until the counter's texts could repeat. */
  readonly #span: number;
  /** Whether other threads walk this stream too, on a shared counter. */
  readonly #joint: boolean;
  /** Ids that may still be stamped above the present fence. */
  #left: number;
  #fence = -1;
  // The last answer, and the reading it was given for.
  #reading = -1;
  #ms = -1;

  /** Without `stream` it is a new one of its own; with it, it joins the others of that number. */
  constructor(ledger: ArrayBufferLike, span: number, stream?: number) {
    this.ledger = ledger;
    this.#span = span;
    this.#claim = new BigInt64Array(ledger, 0, 1);
    this.#joint = stream !== undefined;
    this.#left = this.#joint ? span : 0;
    this.stream = stream ?? enrol(new Int32Array(ledger, 8, 1));
  }

  /** The counter was set anew: nothing stamped so far may be stamped again. */
  restart(): void {
    this.#left = 0;
  }

  /** The highest millisecond that was claimed, −1 if none was. */
  get highest(): number {
    const newest = Atomics.load(this.#claim, 0);
    return newest === 0n ? -1 : Number(newest >> STREAM_BITS);
  }

  /** Sees to it that nothing before `ms` is stamped. For a stream that is alone in its ledger. */
  startAt(ms: number): void {
    if (this.highest >= ms) return;
    Atomics.store(this.#claim, 0, BigInt(Math.max(ms - 1, 0)) << STREAM_BITS);
    this.restart();
  }

  /** Claims a millisecond above all stamped so far, for those who join the stream from here on. */
  openToOthers(): void {
    this.restart();
    this.stamp(0, 1);
  }

  /**
   * The time for the next `count` ids, given the clock's reading.
   *
   * @throws TimeExhaustedError when that would not fit 48 bits
   */
  stamp(reading: number, count: number): number {
    const spent = count > this.#left;
    // Others who walk the stream may have moved on meanwhile, so a joint one looks each time.
    if (!spent && !this.#joint && reading >= this.#reading && reading <= this.#ms) return this.#keep(count);
    for (;;) {
      const newest = Atomics.load(this.#claim, 0);
      const claimed = newest === 0n ? -1 : Number(newest >> STREAM_BITS);
      const mine = !spent && this.stream > 0 && Number(newest & MAX_STREAM) === this.stream;
      if (!mine) this.#fence = claimed;
      // Others may have stamped any time up to the newest claim; at the claim itself the counter keeps us apart.
      else if (this.#joint) this.#fence = claimed - 1;
      const ms = Math.max(reading, this.#fence + 1);
      if (ms > MAX_MS) throw new TimeExhaustedError(`48 bits of time end in the year 10889, not at ${ms}`);
      if ((mine && ms <= claimed) || this.#advance(newest, ms)) {
        if (spent) this.#left = this.#span;
        this.#reading = reading;
        this.#ms = ms;
        return this.#keep(count);
      }
    }
  }

  #keep(count: number): number {
    this.#left -= count;
    return this.#ms;
  }

  #advance(newest: bigint, ms: number): boolean {
    const next = (BigInt(ms) << STREAM_BITS) | BigInt(this.stream);
    return Atomics.compareExchange(this.#claim, 0, newest, next) === newest;
  }
}

/** A number for a new stream. When there are none left it is 0, which nobody takes for their own. */
function enrol(streams: Int32Array): number {
  if (Atomics.load(streams, 0) >= MAX_STREAM) return 0;
  const stream = Atomics.add(streams, 0, 1) + 1;
  return stream > MAX_STREAM ? 0 : stream;
}
