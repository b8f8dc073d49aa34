// A ledger is 16 bytes of memory, private or shared by threads: in the first eight the highest millisecond
// that anyone has claimed (48 bits) and the stream that claimed it (15 bits), then how many streams there are.
const STREAM_BITS = 15n;
const MAX_STREAM = 2n ** STREAM_BITS - 1n;
const LEDGER_BYTES = 16;

/** A ledger for streams of one thread. */
export const privateLedger = (): ArrayBufferLike => new ArrayBuffer(LEDGER_BYTES);

/** The same ledger if threads can share it already, else a copy that they can. */
export function sharedLedger(ledger: ArrayBufferLike): SharedArrayBuffer {
  if (ledger instanceof SharedArrayBuffer) return ledger;
  const shared = new SharedArrayBuffer(LEDGER_BYTES);
  new Uint8Array(shared).set(new Uint8Array(ledger));
  return shared;
}

/**
 * Decides which millisecond an id may carry, so that no (millisecond, counter) pair comes twice.
 *
 * A *stream* is one walk of a 32-bit counter. Among streams that write the same process id and MAC, only one may
 * stamp a given millisecond: each claims it in the ledger first, and claims only grow. Within its claims a stream
 * follows the clock, also back. It may not go to or below the *fence*: what others claimed before it, or what it has
 * stamped itself before its counter was set anew or came round.
 */
export class Timeline {
  readonly ledger: ArrayBufferLike;
  readonly stream: number;
  readonly #claim: BigInt64Array;
  /** How many ids until the counter's texts could repeat. */
  readonly #span: number;
  /** Whether other threads walk this stream too, on a shared counter. */
  readonly #joint: boolean;
  #left = -1;
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
    if (this.#joint) this.#left = span;
    // One that cannot be numbered any more is 0, which nobody takes for their own.
    const number = stream ?? Atomics.add(new Int32Array(ledger, 8, 1), 0, 1) + 1;
    this.stream = number > MAX_STREAM ? 0 : number;
  }

  /** The counter was set anew: nothing stamped so far may be stamped again. */
  restart(): void {
    this.#left = -1;
  }

  /** Makes a pending restart good, for those who join the stream from here on. */
  settle(): void {
    if (this.#left < 0) this.stamp(0, 0);
  }

  /** The time for the next `count` ids, given the clock's reading. */
  stamp(reading: number, count: number): number {
    this.#left -= count;
    const spent = this.#left < 0;
    if (!spent && reading >= this.#reading && reading <= this.#ms) return this.#ms;
    for (;;) {
      const newest = Atomics.load(this.#claim, 0);
      const claimed = Number(newest >> STREAM_BITS);
      const mine = !spent && this.stream > 0 && Number(newest & MAX_STREAM) === this.stream;
      if (!mine) this.#fence = claimed;
      // Others may have stamped any time up to the newest claim; at the claim itself the counter keeps us apart.
      else if (this.#joint) this.#fence = claimed - 1;
      const ms = Math.max(reading, this.#fence + 1);
      if ((mine && ms <= claimed) || this.#advance(newest, ms)) {
        if (spent) this.#left = this.#span - count;
        this.#reading = reading;
        this.#ms = ms;
        return ms;
      }
    }
  }

  #advance(newest: bigint, ms: number): boolean {
    const next = (BigInt(ms) << STREAM_BITS) | BigInt(this.stream);
    return Atomics.compareExchange(this.#claim, 0, newest, next) === newest;
  }
}
