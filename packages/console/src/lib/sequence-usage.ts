import type { SequenceJson } from '../api/types.js';

/** The ends of a signed 64-bit column. */
const MAX_ID = 2n ** 63n - 1n;
const MIN_ID = -(2n ** 63n);

/** How much of its ids a sequence has given out. */
export interface Usage {
  readonly used: bigint;
  readonly total: bigint;
  readonly left: bigint;
  /** From 0 to 1. */
  readonly share: number;
}

/** The first and the last id that it can ever give, in the order of its step. */
function endsOf({ start, step, min, max, cycle }: SequenceJson): { first: bigint; last: bigint } {
  const [low, high] = [BigInt(min), BigInt(max)];
  const isUp = step > 0;
  const begin = isUp ? low : high;
  // Ids before the start are never given out, unless it comes round to them.
  const first = start === null || cycle ? begin : clamp(BigInt(start), low, high);
  return { first, last: isUp ? high : low };
}

export function usageOf(sequence: SequenceJson): Usage {
  const { step, exhausted } = sequence;
  const { first, last } = endsOf(sequence);
  const size = BigInt(Math.abs(step));
  const total = distance(first, last, step) / size + 1n;
  const gone = distance(first, BigInt(sequence.next), step);
  const used = exhausted ? total : clamp((gone + size - 1n) / size, 0n, total);
  return { used, total, left: total - used, share: ratio(used, total) };
}

/** How far it is from one to the other in the direction of the step; negative is behind. */
function distance(from: bigint, to: bigint, step: number): bigint {
  return step > 0 ? to - from : from - to;
}

/** `a / b` as a number. Of large numbers the digits that count are kept. */
function ratio(a: bigint, b: bigint): number {
  if (b === 0n) return 0;
  const surplus = Math.max(b.toString(2).length - 1000, 0);
  return Number(a >> BigInt(surplus)) / Number(b >> BigInt(surplus));
}

/** What may be wrong about an id as a sequence's: it is out of range, or between two steps. */
export type Position =
  | { readonly kind: 'given'; readonly index: bigint }
  | { readonly kind: 'ahead'; readonly index: bigint }
  | { readonly kind: 'none' };

/** Where in a sequence an id stands: the how-manieth it is, counted from 0, and whether it has been given out. */
export function positionOf(sequence: SequenceJson, id: bigint): Position {
  const { step, exhausted, next } = sequence;
  const { first, last } = endsOf(sequence);
  const size = BigInt(Math.abs(step));
  const way = distance(first, id, step);
  if (way < 0n || distance(id, last, step) < 0n || way % size !== 0n) return { kind: 'none' };
  const isGiven = exhausted || distance(id, BigInt(next), step) > 0n;
  return { kind: isGiven ? 'given' : 'ahead', index: way / size };
}

/** Whether the limit is no one's choice but the end of 64 bits. */
export function isOpenEnded({ step, min, max }: SequenceJson): boolean {
  return step > 0 ? BigInt(max) === MAX_ID : BigInt(min) === MIN_ID;
}

const clamp = (value: bigint, low: bigint, high: bigint) => (value < low ? low : value > high ? high : value);
