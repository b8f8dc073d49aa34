import { SequenceExhaustedError, StoreError } from '../../errors.js';
import { show } from '../../options.js';
import type { Block } from '../../sequence/port.js';

/** The ids that a value of a database's sequence stands for. The names are Hibernate's. */
export type Optimizer = 'pooled-lo' | 'pooled' | 'none';

/** One value of a sequence, and the definition of the sequence at that moment. */
export interface NativeReading {
  readonly value: bigint;
  readonly increment: bigint;
  readonly min: bigint | undefined;
  readonly max: bigint | undefined;
  /** The first value of the sequence, if it is known. */
  readonly start: bigint | undefined;
}

/** A value as a place along the sequence's direction, so that a descending sequence reads as an ascending one. */
interface Place {
  readonly at: bigint;
  readonly size: bigint;
  readonly direction: bigint;
}

/** The place from which on ids are free. Before it, blocks of a larger increment may have taken at most `reach` ids. */
interface Boundary {
  readonly from: bigint;
  readonly reach: bigint;
}

/**
 * Makes blocks of the values that one source draws. With INCREMENT BY 50 the value 101 stands for 101 to 150 as
 * `'pooled-lo'`, for 52 to 101 as `'pooled'`, and for itself as `'none'`.
 *
 * The sequence may be altered between two values, and other programs draw from it, too. The reader remembers the last value, and leaves
 * out ids that a block of another increment may have taken.
 */
export class BlockReader {
  readonly #name: string;
  readonly #optimizer: Optimizer;
  #last: Place | undefined;
  #lowest: bigint | undefined;
  #boundary: Boundary | undefined;

  constructor(name: string, optimizer: Optimizer) {
    this.#name = name;
    this.#optimizer = optimizer;
  }

  /**
   * The block that a value stands for; `undefined` if all of its ids may have been given out.
   *
   * @throws SequenceExhaustedError when the block would pass the limit of the sequence
   * @throws StoreError when the sequence has changed its direction, so that its ids would repeat
   */
  read(reading: NativeReading): Block | undefined {
    const direction = reading.increment < 0n ? -1n : 1n;
    const place = { at: reading.value * direction, size: reading.increment * direction, direction };
    if (this.#optimizer === 'none') return blockOf(place.at, place.at, direction);
    if (this.#last !== undefined && this.#last.direction !== direction) throw this.#turned(this.#last, place);
    const block = this.#optimizer === 'pooled' ? this.#upTo(place, reading) : this.#from(place, reading);
    this.#last = place;
    if (this.#lowest === undefined || place.at < this.#lowest) this.#lowest = place.at;
    return block;
  }

  /** The value below which ids may have been given out, where {@link read} found no block. */
  get firstFree(): bigint | undefined {
    return this.#boundary && this.#last && this.#boundary.from * this.#last.direction;
  }

  /** `'pooled-lo'`: the value and what follows it. */
  #from(place: Place, { value, min, max }: NativeReading): Block | undefined {
    const { at, size, direction } = place;
    const end = at + size - 1n;
    const limit = direction > 0n ? max : min === undefined ? undefined : -min;
    if (limit !== undefined && end > limit)
      throw new SequenceExhaustedError(
        `sequence ${show(this.#name)} gave ${value}, and a block of ${size} ids from there would exceed its limit`,
      );
    this.#boundary = boundaryOf(place, this.#last) ?? this.#boundary;
    // A value far behind the boundary is of a sequence that was restarted on purpose.
    if (this.#boundary && (at >= this.#boundary.from || at < this.#boundary.from - this.#boundary.reach))
      this.#boundary = undefined;
    const first = this.#boundary?.from ?? at;
    return first > end ? undefined : blockOf(first, end, direction);
  }

  /** `'pooled'`: the value and what precedes it, down to the value before. */
  #upTo(place: Place, { min, max, start }: NativeReading): Block {
    const { at, direction } = place;
    const limit = direction > 0n ? min : max === undefined ? undefined : -max;
    const first = at - this.#sizeBelow(place, start) + 1n;
    return blockOf(limit !== undefined && first < limit ? limit : first, at, direction);
  }

  /** The number of ids, the value included, that no block before it holds. */
  #sizeBelow({ at, size, direction }: Place, start: bigint | undefined): bigint {
    const last = this.#last;
    // The rows below the start of a sequence were there before it. A source that does not know the start knows that a
    // value is not the start once it has seen one before it.
    const isStart =
      start === undefined ? this.#lowest === undefined || at <= this.#lowest : at === start * direction;
    // Values of one sequence are multiples of its increment apart, unless it was restarted somewhere else.
    const isRestarted = last?.size === size && (at - last.at) % size !== 0n;
    if (isStart || isRestarted) return 1n;
    // The first value after an ALTER SEQUENCE is one increment away from the one before: the old one or the new one.
    return last !== undefined && last.size < size ? last.size : size;
  }

  #turned(last: Place, place: Place): StoreError {
    const [was, is] = [last, place].map(({ size, direction }) => size * direction);
    return new StoreError(
      `sequence ${show(this.#name)}: INCREMENT BY has changed its direction, from ${was} to ${is}, so ids would ` +
        'repeat: create another sequence',
    );
  }
}

/**
 * The end of what blocks of a larger increment may hold. PostgreSQL and Oracle add the new increment to the last value: after
 * the block 1 to 100, a sequence that is altered to INCREMENT BY 10 goes on at 11.
 */
function boundaryOf({ at, size }: Place, last: Place | undefined): Boundary | undefined {
  if (last === undefined || last.size <= size) return undefined;
  // The last of the old values is one of a grid through the one that was seen, and at least one step behind this one.
  const distance = at - size - last.at;
  const beyond = ((distance % last.size) + last.size) % last.size;
  return { from: last.at + distance - beyond + last.size, reach: last.size };
}

/** The places from `first` to `last` as a block. A block can be shorter than its value allows, and never is longer. */
function blockOf(first: bigint, last: bigint, direction: bigint): Block {
  const count = last - first + 1n;
  const most = BigInt(Number.MAX_SAFE_INTEGER);
  return {
    first: first * direction,
    step: Number(direction),
    count: Number(count > most ? most : count),
  };
}
