// A UUID of version 7 (RFC 9562) is four big-endian 32-bit words:
//
//   0  upper 32 bits of the time in Unix milliseconds
//   1  lower 16 bits of the time, version 7 (4 bits), random part `a` (12 bits)
//   2  variant `10` (2 bits), random part `b` (30 bits)
//   3  random part `c` (32 bits)
//
// The random parts are read as one number of 74 bits, a · 2^62 + b · 2^32 + c. With a lease, the lowest 16 bits of `c`, which
// are the last four hex digits of the text, hold the node id, and 58 bits are random.
//
// The first id of a millisecond has a random number. Each further id adds a random step, so ids increase and nobody computes
// the next id from its neighbours:
//
//                    the step is uniform in
//   without a lease  1 … 2^56
//   with a lease     1 … 2^40 in units of 2^16, so that the node id stays
//   in a shared run  1 … 2^48 (see shared-position.ts)

import { TimeExhaustedError } from '../errors.js';

/** The number of node ids that a lease may have: 16 bits. */
export const LEASED_NODES = 0x10000;

/** The largest number of ids in one run, which begins with one reading of the clock. */
export const MAX_RUN = 512;

/** The last millisecond that fits 48 bits, in the year 10889. */
export const MAX_MS = 2 ** 48 - 1;

/** @throws TimeExhaustedError when `ms` does not fit 48 bits */
export function checkTime(ms: number): number {
  if (ms <= MAX_MS) return ms;
  throw new TimeExhaustedError(`the time ${ms} does not fit 48 bits, which end in the year 10889`);
}

/**
 * Moves the start of a millisecond out of the upper quarter of `range`, a power of two. So there is room for steps, and a
 * millisecond holds more than 65,000 ids, whatever the random source gives.
 */
export function leaveRoom(start: number, range: number): number {
  return start < 0.75 * range ? start : start - range / 2;
}

/** Ids that follow each other in one millisecond. */
export interface Run {
  readonly ms: number;
  /** The random part of the first id: 12, 30 and 32 bits. */
  readonly a: number;
  readonly b: number;
  readonly c: number;
  /** The bits of a random number that go into a step: those of its upper word, and those of its lower word. */
  readonly highMask: number;
  readonly lowMask: number;
  /** The number that is added to each step, so that no step is zero. */
  readonly unit: number;
}
