import { further, type SequencePast } from './judge.js';

// The ceiling of a sequence: a number that is written into the store well ahead. A loss of the last writes may take a ceiling with it, but not
// one that is older than the loss. So all numbers before a ceiling that is old enough are covered: after the loss the sequence goes on at the
// ceiling that is left, which is beyond all of them.

/** The longest loss that is covered, ms: a ceiling that is older than this has survived. */
export const COVERED_LOSS = 60_000;

/** The fewest blocks between the position of a sequence and a new ceiling. */
const LEAST_BLOCKS = 1000;

/** A new ceiling is as far ahead as the sequence gets in this time at its present rate, ms. */
const LOOK_AHEAD = 4 * COVERED_LOSS;

/**
 * The part of the range of a sequence that a jump may take, as a divisor: of a wide range, and of one that is not much wider than the fewest
 * blocks. And the blocks that a jump may take of any range.
 */
const WIDE_PART = 1000n;
const NARROW_PART = 20n;
const FEWEST_BLOCKS = 2;

/** The longest way from the position of a sequence to its ceiling, in ids, unless the store says otherwise. */
export const DEFAULT_MAX_JUMP = 10_000_000;

/** What a store remembers of a sequence that can continue without a person. */
export interface Ceiling extends SequencePast {
  readonly ceiling: bigint;
  /** The last ceiling that was old enough when this one was written. */
  readonly matured: bigint;
  /** The position of the sequence when the ceiling was written. */
  readonly base: bigint;
  /** The time of the writing by the store's clock, ms. */
  readonly writtenAt: number;
}

/** The part of a sequence's row that the distance of a ceiling depends on. */
interface Shape {
  /** The first number of the sequence; `undefined` if nobody knows. */
  readonly start?: bigint | undefined;
  readonly step: number;
  readonly blockSize: number;
  readonly min: bigint;
  readonly max: bigint;
}

/**
 * The first ceiling of a sequence.
 *
 * @param isBorn true if the ceiling is written before the row of a new sequence. Then it is old enough at once: where the row has survived, it has.
 */
export function firstCeiling(
  row: Shape,
  position: bigint,
  lineage: string,
  now: number,
  isBorn: boolean,
  maxJump: number,
): Ceiling {
  const ceiling = ahead(row, position, 0, maxJump);
  return { lineage, ceiling, matured: isBorn ? ceiling : position, base: position, writtenAt: now };
}

/** The ceiling after this one. */
export function nextCeiling(
  past: Ceiling,
  row: Shape,
  position: bigint,
  now: number,
  maxJump: number,
): Ceiling {
  const { base, writtenAt, lineage } = past;
  const elapsed = Math.max(1, now - writtenAt);
  const distance = (Number(position - base) / row.step / elapsed) * LOOK_AHEAD;
  const ceiling = further(ahead(row, position, distance, maxJump), past.ceiling, row.step);
  return { lineage, ceiling, matured: maturedOf(past, row.step, now), base: position, writtenAt: now };
}

/** Tells whether it is time to write the next ceiling: half of the way is used up, or all of it before the ceiling is old enough. */
export function isDue(past: Ceiling, position: bigint, step: number, now: number): boolean {
  const half = past.base + (past.ceiling - past.base) / 2n;
  return reached(position, isOld(past, now) ? half : past.ceiling, step);
}

/** Tells whether a loss of up to {@link COVERED_LOSS} repeats no number before `position`. */
export function isCovered(past: Ceiling, position: bigint, step: number, now: number): boolean {
  const matured = maturedOf(past, step, now);
  return reached(matured, position, step);
}

const isOld = ({ writtenAt }: Ceiling, now: number) => now - writtenAt >= COVERED_LOSS;

const maturedOf = (past: Ceiling, step: number, now: number) =>
  isOld(past, now) ? further(past.ceiling, past.matured, step) : past.matured;

const reached = (position: bigint, goal: bigint, step: number) => further(position, goal, step) === position;

/** The number that is `wanted` ids ahead, or as many as are reasonable. */
function ahead(row: Shape, position: bigint, wanted: number, maxJump: number): bigint {
  const { step, blockSize } = row;
  const block = Math.max(1, blockSize);
  const least = LEAST_BLOCKS * block;
  const ids = Math.min(Math.ceil(Math.max(least, wanted)), maxJump);
  const extent = extentOf(row, position);
  const part = Math.max(
    Number(extent / WIDE_PART),
    Math.min(Number(extent / NARROW_PART), least),
    FEWEST_BLOCKS * block,
  );
  return position + BigInt(step) * BigInt(Math.min(ids, part));
}

/**
 * The number of ids from the first one of a sequence to its last, or from its position if the first is not known. The limit behind the first is
 * the end of 64 bits, unless somebody has set it.
 */
function extentOf({ step, min, max, start }: Shape, position: bigint): bigint {
  const first = start ?? position;
  const room = step > 0 ? max - first : first - min;
  return room > 0n ? room / BigInt(Math.abs(step)) : 0n;
}
