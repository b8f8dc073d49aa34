import type { SequenceJson } from '../api/types.js';
import { short } from './format.js';

/** The ends of a signed 64-bit column. */
const MAX_ID = 2n ** 63n - 1n;
const MIN_ID = -(2n ** 63n);

/** The ids of a sequence that have been allocated, and those that are left. */
export interface Usage {
  readonly used: bigint;
  readonly total: bigint;
  readonly left: bigint;
  /** From 0 to 1. */
  readonly share: number;
}

/** The first and the last id of a sequence, in the direction of its step. */
function endsOf({ start, step, min, max, cycle }: SequenceJson): { first: bigint; last: bigint } {
  const [low, high] = [BigInt(min), BigInt(max)];
  const isUp = step > 0;
  const begin = isUp ? low : high;
  // Only a cycle reaches the ids before the start.
  const first = start === null || cycle ? begin : clamp(BigInt(start), low, high);
  return { first, last: isUp ? high : low };
}

export function usageOf(sequence: SequenceJson): Usage {
  const { step, exhausted } = sequence;
  const { first, last } = endsOf(sequence);
  const size = BigInt(Math.abs(step));
  const total = distance(first, last, step) / size + 1n;
  const passed = distance(first, BigInt(sequence.next), step);
  const isEmpty = exhausted && (sequence.stranded ?? '0') === '0';
  const used = isEmpty ? total : clamp((passed + size - 1n) / size, 0n, total);
  return { used, total, left: total - used, share: ratio(used, total) };
}

/** The usage of a sequence; `undefined` if its row makes no sense, such as a step of 0. */
export function readUsage(sequence: SequenceJson): Usage | undefined {
  try {
    return usageOf(sequence);
  } catch {
    return undefined;
  }
}

/** The distance between two ids in the direction of the step; negative if `to` lies behind `from`. */
function distance(from: bigint, to: bigint, step: number): bigint {
  return step > 0 ? to - from : from - to;
}

/** `a / b` as a number. Large numbers keep their leading digits. */
function ratio(a: bigint, b: bigint): number {
  if (b === 0n) return 0;
  const surplus = Math.max(b.toString(2).length - 1000, 0);
  return Number(a >> BigInt(surplus)) / Number(b >> BigInt(surplus));
}

/** The position of an id in a sequence. `none` means out of range, or between two steps. */
export type Position =
  | { readonly kind: 'allocated'; readonly index: bigint }
  | { readonly kind: 'ahead'; readonly index: bigint }
  | { readonly kind: 'none' };

/** Finds the index of an id in a sequence, counted from 0, and tells allocated ids from those still ahead. */
export function positionOf(sequence: SequenceJson, id: bigint): Position {
  if (readUsage(sequence) === undefined) return { kind: 'none' };
  const { step, exhausted, next } = sequence;
  const { first, last } = endsOf(sequence);
  const size = BigInt(Math.abs(step));
  const offset = distance(first, id, step);
  if (offset < 0n || distance(id, last, step) < 0n || offset % size !== 0n) return { kind: 'none' };
  const isAllocated =
    (exhausted && (sequence.stranded ?? '0') === '0') || distance(id, BigInt(next), step) > 0n;
  return { kind: isAllocated ? 'allocated' : 'ahead', index: offset / size };
}

/** True if the sequence ends only with the 64-bit range. */
export function isOpenEnded({ step, min, max }: SequenceJson): boolean {
  return step > 0 ? BigInt(max) === MAX_ID : BigInt(min) === MIN_ID;
}

/** The ids that are left, for people. The size of the 64-bit range tells nobody anything. */
export function idsLeft({ remaining }: SequenceJson): string {
  if (remaining === undefined) return '—';
  if (remaining === null) return 'no end';
  return BigInt(remaining) > 10n ** 15n ? '> 1,000T' : short(BigInt(remaining));
}

const clamp = (value: bigint, low: bigint, high: bigint) => (value < low ? low : value > high ? high : value);
