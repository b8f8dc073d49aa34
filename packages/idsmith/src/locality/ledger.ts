// A ledger is 16 bytes of memory, private or shared by threads. The first eight hold the newest claim: the highest
// millisecond claimed plus one (49 bits), then the stream that claimed it (15 bits). All zero: nothing is claimed yet. After
// that comes the number of streams (32 bits).

import { isA } from '../options.js';

const STREAM_BITS = 15n;
/** The highest number that a stream can have. */
export const MAX_STREAM = 2 ** 15 - 1;
const STREAM_MASK = BigInt(MAX_STREAM);
/** The size of a ledger. */
export const LEDGER_BYTES = 16;

/** A ledger for streams of one thread, in which everything up to the millisecond `claimed` is taken. */
export function privateLedger(claimed = -1): ArrayBuffer {
  const ledger = new ArrayBuffer(LEDGER_BYTES);
  new BigUint64Array(ledger)[0] = claimBy(0, claimed);
  return ledger;
}

/** The same ledger if threads can share it already, else a copy that they can. */
export function sharedLedger(ledger: ArrayBufferLike): SharedArrayBuffer {
  if (isA('SharedArrayBuffer', ledger)) return ledger as SharedArrayBuffer;
  const shared = new SharedArrayBuffer(LEDGER_BYTES);
  new Uint8Array(shared).set(new Uint8Array(ledger));
  return shared;
}

/** The word for a claim on the millisecond `ms`. */
export function claimBy(stream: number, ms: number): bigint {
  return (BigInt(ms + 1) << STREAM_BITS) | BigInt(stream);
}

/** The millisecond of a claim, −1 for none. */
export function msOf(claim: bigint): number {
  return Number(claim >> STREAM_BITS) - 1;
}

/** Whether a claim is that of `stream`. Stream 0 is nobody in particular. */
export function isBy(stream: number, claim: bigint): boolean {
  return stream > 0 && Number(claim & STREAM_MASK) === stream;
}

/** A number for a new stream. When there are none left it is 0, which nobody takes for their own. */
export function enrol(ledger: ArrayBufferLike): number {
  const streams = new Int32Array(ledger, 8, 1);
  if (Atomics.load(streams, 0) >= MAX_STREAM) return 0;
  const stream = Atomics.add(streams, 0, 1) + 1;
  return stream > MAX_STREAM ? 0 : stream;
}
