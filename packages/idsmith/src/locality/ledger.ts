// A ledger is 16 bytes of memory, private or shared by threads. The first eight bytes hold the newest claim: the highest
// claimed millisecond plus one (49 bits), then the stream that claimed it (15 bits). Zero means that nothing is claimed yet.
// The next four bytes hold the number of streams.

const STREAM_BITS = 15n;
/** The highest number of a stream. */
export const MAX_STREAM = 2 ** 15 - 1;
const STREAM_MASK = BigInt(MAX_STREAM);
/** The size of a ledger in bytes. */
export const LEDGER_BYTES = 16;

/** A ledger for streams of one thread, in which all milliseconds up to `claimed` are taken. */
export function privateLedger(claimed = -1): ArrayBuffer {
  const ledger = new ArrayBuffer(LEDGER_BYTES);
  new BigUint64Array(ledger)[0] = claimBy(0, claimed);
  return ledger;
}

/** The word for a claim on the millisecond `ms`. */
export function claimBy(stream: number, ms: number): bigint {
  return (BigInt(ms + 1) << STREAM_BITS) | BigInt(stream);
}

/** The millisecond of a claim, or −1 if nothing is claimed. */
export function msOf(claim: bigint): number {
  return Number(claim >> STREAM_BITS) - 1;
}

/** True if `stream` made the claim. Stream 0 owns no claim. */
export function isBy(stream: number, claim: bigint): boolean {
  return stream > 0 && Number(claim & STREAM_MASK) === stream;
}

/** Registers a new stream and returns its number, or 0 if all numbers are used: stream 0 owns no claim. */
export function enrol(ledger: ArrayBufferLike): number {
  const streams = new Int32Array(ledger, 8, 1);
  if (Atomics.load(streams, 0) >= MAX_STREAM) return 0;
  const stream = Atomics.add(streams, 0, 1) + 1;
  return stream > MAX_STREAM ? 0 : stream;
}
