import { InvalidOptionError, SequenceExhaustedError } from '../errors.js';
import { refuse, requireChoice, requireInteger, requireKnown, show } from '../options.js';
import { endOf, withOrigin } from './block.js';
import { requireSequenceName } from './name.js';
import type { Block, SequenceChanges, SequenceDefinition, SequenceInfo } from './port.js';

// The arithmetic of sequences: define, alter, allocate, give back. All of it is pure. A store reads a row, calls a function here,
// and writes the resulting row if the stored row is still the same.

/** The ends of a signed 64-bit column. */
export const MIN_ID = -(2n ** 63n);
export const MAX_ID = 2n ** 63n - 1n;

/** The most blocks that one allocation may ask for. */
export const MAX_BLOCKS = 2 ** 20;

const MAX_BLOCK_SIZE = 2 ** 31 - 1;

/** The options of a sequence, besides its name. */
export const DEFINABLE = ['start', 'blockSize', 'step', 'min', 'max', 'cycle'];

/** The fields of a sequence that can be altered. */
export const ALTERABLE = ['next', 'blockSize', 'step', 'min', 'max', 'cycle'];

/** The stored row of a sequence. */
export interface SequenceRow extends SequenceInfo {
  /** Distinguishes a sequence from earlier ones with its name; 0 where another program defined it. */
  readonly generation: number;
  /**
   * A text that every swap and every alteration sets to a new value. A change that reaches the store twice, because a driver has sent
   * it again, finds another mark the second time. An allocation leaves the mark as it is.
   */
  readonly mark: string;
  /** The lineage of the store when the row was read. A change is made only while the store has it; `undefined` if the store cannot tell. */
  readonly lineage?: string | undefined;
}

/** The mark of a row that nobody has swapped or altered yet. */
export const UNMARKED = '0';

/**
 * The row of a sequence to be defined.
 *
 * @throws InvalidOptionError naming the option that is wrong
 */
export function defineRow(definition: SequenceDefinition, generation: number): SequenceRow {
  requireKnown('options', definition, ['name', 'lost', 'notBefore', ...DEFINABLE]);
  const { name, blockSize = 20, step = 1 } = definition;
  requireSequenceName(name);
  const start = requireId('start', given(definition.start, 1n));
  const cycle = requireChoice('cycle', definition.cycle, [false, true]);
  requireShape(blockSize, step);
  const min = requireId('min', given(definition.min, cycle && step > 0 ? start : MIN_ID));
  const max = requireId('max', given(definition.max, cycle && step < 0 ? start : MAX_ID));
  requireRange(min, max);
  if (start < min || start > max) refuse('start', `from ${min} to ${max}, which are min and max`, start);
  return {
    name,
    start,
    next: start,
    blockSize,
    step,
    min,
    max,
    cycle,
    exhausted: false,
    generation,
    mark: UNMARKED,
  };
}

/**
 * The row with changes. Ids that may have been given out never repeat: `next` stays or moves forward. A row that somebody has set to
 * exhausted goes on where a new `next` says, a block later at least.
 *
 * @throws InvalidOptionError naming the change that is wrong
 */
export function alterRow(row: SequenceRow, changes: SequenceChanges): SequenceRow {
  requireKnown('changes', changes, ALTERABLE);
  const { blockSize = row.blockSize, step = row.step } = changes;
  requireShape(blockSize, step);
  if (step > 0 !== row.step > 0) refuse('step', `of the same sign as ${row.step}, or ids would repeat`, step);
  const cycle = requireChoice('cycle', changes.cycle ?? row.cycle, [false, true]);
  const min = requireId('min', given(changes.min, row.min));
  const max = requireId('max', given(changes.max, row.max));
  requireRange(min, max);
  const position = changes.next !== undefined && isStopped(row) ? afterBlock(row) : positionOf(row);
  const wanted = changes.next === undefined ? position : requireId('next', changes.next);
  const later = step > 0 ? higher : lower;
  if (later(wanted, position) !== wanted)
    refuse('next', `${position} or further on, or ids would repeat`, wanted);
  if (changes.next !== undefined && (wanted < min || wanted > max))
    refuse('next', `from ${min} to ${max}, which are min and max`, wanted);
  const next = later(wanted, step > 0 ? min : max);
  return settle({ ...row, blockSize, step, min, max, cycle }, next);
}

/**
 * The next `blocks` blocks of a sequence, or as many as are left, and the row after them.
 *
 * @throws SequenceExhaustedError when not even one block is left
 * @throws InvalidOptionError when another program has given the row a block size below 1
 */
export function takeBlocks(row: SequenceRow, blocks: number): { block: Block; row: SequenceRow } {
  const { name, blockSize, step, cycle } = row;
  if (blockSize < 1)
    throw new InvalidOptionError(`block_size of sequence ${show(name)} must be at least 1, not ${blockSize}`);
  let first = positionOf(row);
  let whole = wholeBlocks(row, first);
  if (whole === 0n && cycle) {
    first = originOf(row);
    whole = wholeBlocks(row, first);
  }
  if (whole === 0n) {
    const left = idsLeft(row, first);
    throw new SequenceExhaustedError(
      `sequence ${show(name)} is at its end: ${left} ids are left, and a block needs ${blockSize}${left > 0n ? '. A smaller block size reaches them' : ''}`,
    );
  }
  const count = Number(whole < BigInt(blocks) ? whole : BigInt(blocks)) * blockSize;
  const block = withOrigin({ first, step, count }, row.generation);
  return { block, row: settle(row, endOf(block)) };
}

/** The row after the unused end of a run was given back; `undefined` if others have allocated since. */
export function returnTail(row: SequenceRow, tail: Block): SequenceRow | undefined {
  const { next, step, cycle, generation } = row;
  // A cycle may have reached the same place again, and then the tail has been given out twice on purpose.
  const isLast = !cycle && BigInt.asIntN(64, endOf(tail)) === next;
  if (!isLast || tail.step !== step || tail.origin !== generation) return undefined;
  return settle(row, tail.first);
}

/** A change of `next` that needs no other field of the row. */
export interface Move {
  /** The number that is added to `next`. */
  readonly delta: bigint;
  /** The range of `next`, both ends inclusive, in which the move stays within the limits of the sequence. */
  readonly low: bigint;
  readonly high: bigint;
}

/** The move that takes `blocks` blocks far from the limits; `undefined` where the limits are too near. */
export function plainMove(row: SequenceRow, blocks: number): Move | undefined {
  const { blockSize, step, min, max } = row;
  const delta = BigInt(step) * BigInt(blockSize) * BigInt(blocks);
  const [low, high] = step > 0 ? [min, max - delta] : [min - delta, max];
  return blockSize >= 1 && low <= high && fits(delta) ? { delta, low, high } : undefined;
}

/**
 * The move that alters a row far from the limits, old and new; `undefined` where the limits are too near. The range begins at the
 * row's `next`: if somebody has given ids back, the row would otherwise not move as far as was asked.
 */
export function plainChange(row: SequenceRow, altered: SequenceRow): Move | undefined {
  if (row.exhausted) return undefined;
  // A limit that is moved behind the row ends the sequence at any place that others have moved it to.
  if (altered.exhausted)
    return row.step > 0
      ? { delta: 0n, low: row.next, high: row.max }
      : { delta: 0n, low: row.min, high: row.next };
  const delta = altered.next - row.next;
  const [min, max] = [higher(row.min, altered.min), lower(row.max, altered.max)];
  const limits = delta > 0n ? [min, max - delta] : [min - delta, max];
  const [low, high] =
    row.step > 0 ? [higher(limits[0]!, row.next), limits[1]!] : [limits[0]!, lower(limits[1]!, row.next)];
  return low <= high && fits(delta) ? { delta, low, high } : undefined;
}

/** Tells whether a store can add `delta`: the distance between the ends of the 64-bit range does not fit 64 bits. */
const fits = (delta: bigint) => delta === BigInt.asIntN(64, delta);

/** Tells whether the move can be made on this row. */
export function canMove(row: SequenceRow, { low, high }: Move): boolean {
  return !row.exhausted && row.next >= low && row.next <= high;
}

/** The row with a new `next`. Past the limit, the row is exhausted, or a cycle starts over. */
export function settle(row: SequenceRow, next: bigint): SequenceRow {
  const past = row.step > 0 ? next > row.max : next < row.min;
  if (past && row.cycle) return { ...row, next: originOf(row), exhausted: false };
  // As in a column of 64 bits that overflows. `exhausted` tells of the overflow.
  return { ...row, next: BigInt.asIntN(64, next), exhausted: past };
}

/** Tells whether no block can be taken any more: the row is exhausted, or fewer ids are left than a block needs. */
export function isOver(row: SequenceRow): boolean {
  if (row.exhausted) return true;
  // An allocation tells whoever reads a block size below 1 what is wrong.
  if (row.blockSize < 1) return false;
  return wholeBlocks(row, positionOf(row)) === 0n && (!row.cycle || wholeBlocks(row, originOf(row)) === 0n);
}

/** The ids of a sequence that nobody has taken yet. */
export interface Supply {
  /** The ids that blocks will reach. */
  readonly remaining: bigint;
  /** The ids at the end that no block reaches: fewer than a block needs. A smaller block size reaches them. */
  readonly stranded: bigint;
}

/** The ids that are left in the store; `undefined` for a cycle, which never ends. */
export function supplyOf(info: SequenceInfo): Supply | undefined {
  const { next, blockSize, min, max, cycle, exhausted } = info;
  if (cycle && !exhausted) return undefined;
  const left = idsLeft(info, next >= min && next <= max ? next : positionOf(info));
  // Somebody may have set a row to exhausted that has whole blocks left. They are given to nobody.
  const stranded = exhausted || blockSize < 1 ? left : left % BigInt(blockSize);
  return { remaining: left - stranded, stranded };
}

/** The first id of a cycle. */
const originOf = ({ step, min, max }: SequenceRow) => (step > 0 ? min : max);

/** The position of the sequence, even when `next` has overflowed. The limit is at the end of 64 bits then. */
export function positionOf({ next, step, min, max, exhausted }: SequenceInfo): bigint {
  if (!exhausted) return step > 0 ? higher(next, min) : lower(next, max);
  return step > 0 ? (next > max ? next : MAX_ID + 1n) : next < min ? next : MIN_ID - 1n;
}

/**
 * Tells whether somebody has set `exhausted` although ids are left. Near the end of 64 bits, `next` may have overflowed instead.
 */
function isStopped({ next, step, min, max, exhausted }: SequenceRow): boolean {
  const hasOverflowed = step > 0 ? next < MIN_ID + BigInt(step) : next > MAX_ID + BigInt(step);
  return exhausted && next >= min && next <= max && !hasOverflowed;
}

/** The position one block later: another program may have given out the last block without moving `next`. */
function afterBlock({ next, step, blockSize }: SequenceRow): bigint {
  return next + BigInt(step) * BigInt(Math.max(1, blockSize));
}

function idsLeft({ step, min, max }: SequenceInfo, next: bigint): bigint {
  const room = step > 0 ? max - next : next - min;
  return room < 0n ? 0n : room / BigInt(Math.abs(step)) + 1n;
}

/** The number of whole blocks that are left from `next` on. */
export const wholeBlocks = (row: SequenceRow, next: bigint) => idsLeft(row, next) / BigInt(row.blockSize);

const higher = (a: bigint, b: bigint) => (a > b ? a : b);
const lower = (a: bigint, b: bigint) => (a < b ? a : b);

function requireShape(blockSize: unknown, step: unknown): void {
  requireInteger('blockSize', blockSize, 1, MAX_BLOCK_SIZE);
  if (!Number.isSafeInteger(step) || step === 0)
    refuse('step', 'a whole number within ±(2^53 − 1) other than 0', step);
}

function requireRange(min: bigint, max: bigint): void {
  if (min > max) refuse('min', `at most max, which is ${max}`, min);
}

/** The value, or the default if it is left out. `null` is not left out, and no id. */
const given = <T>(value: T | undefined, fallback: T) => (value === undefined ? fallback : value);

/** `value` as a `bigint`, if it is a whole number of 64 bits. */
function requireId(option: string, value: unknown): bigint {
  if (typeof value === 'bigint' && value >= MIN_ID && value <= MAX_ID) return value;
  if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
  refuse(option, 'a bigint from −2^63 to 2^63 − 1, or a whole number within ±(2^53 − 1)', value);
}
