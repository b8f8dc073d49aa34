// The highest millisecond that anyone has claimed, and who claimed it, in one 64-bit word of shared memory:
// 48 bits of time above 15 bits of stream. Claims only grow, so a millisecond is never claimed twice.

const STREAM_BITS = 15n;
const STREAM_MASK = (1n << STREAM_BITS) - 1n;

/**
 * Who may stamp which millisecond, among generators that write the same process id and MAC into their ids.
 *
 * A *stream* is one walk of one counter. Two streams may come by the same counter, so no two may stamp the
 * same millisecond. Stream 0 stands for one that could not be numbered; it is never recognised as its own.
 */
export class Ledger {
  readonly buffer: SharedArrayBuffer;
  readonly #claim: BigInt64Array;
  readonly #streams: Int32Array;

  constructor(buffer: SharedArrayBuffer) {
    this.buffer = buffer;
    this.#claim = new BigInt64Array(buffer, 0, 1);
    this.#streams = new Int32Array(buffer, 8, 1);
  }

  /** A number for a new stream. */
  enrol(): number {
    const stream = Atomics.add(this.#streams, 0, 1) + 1;
    return stream > 0 && BigInt(stream) <= STREAM_MASK ? stream : 0;
  }

  /** The newest claim. Its time and stream are read off with {@link claimedMs} and {@link claimant}. */
  newest(): bigint {
    return Atomics.load(this.#claim, 0);
  }

  /** Sees to it that no later claim of `stream` lies below `ms`. */
  raise(ms: number, stream: number): void {
    for (;;) {
      const newest = this.newest();
      if (claimedMs(newest) >= ms || this.advance(newest, ms, stream)) return;
    }
  }

  /** Claims `ms` for `stream`, unless somebody was quicker than the caller's view of the newest claim. */
  advance(seen: bigint, ms: number, stream: number): boolean {
    const next = (BigInt(ms) << STREAM_BITS) | BigInt(stream);
    return Atomics.compareExchange(this.#claim, 0, seen, next) === seen;
  }
}

export function claimedMs(claim: bigint): number {
  return Number(claim >> STREAM_BITS);
}

export function claimant(claim: bigint): number {
  return Number(claim & STREAM_MASK);
}
