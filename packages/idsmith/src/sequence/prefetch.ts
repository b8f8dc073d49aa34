import { refuse } from '../options.js';
import { MAX_BLOCKS } from './blocks.js';

/** The number of blocks that a sequence fetches ahead of its callers. */
export type Prefetch = 'adaptive' | number;

/** The state of a sequence when a fetch begins. */
interface FetchStart {
  /** Milliseconds, on any clock. */
  readonly now: number;
  /** The number of ids at hand. */
  readonly left: number;
  /** The number of ids that callers wait for. */
  readonly wanted: number;
  /** The number of ids that were handed out since the previous fetch began. */
  readonly handedOut: number;
}

/** The measurements of a fetch. */
interface FetchEnd {
  /** The time until the answer came, ms. */
  readonly duration: number;
  readonly blocks: number;
  readonly count: number;
}

/** The decision when to fetch, and how much. */
export interface PrefetchPolicy {
  /** True when ids are fetched before they are needed. */
  readonly isAhead: boolean;
  /** The number of ids at hand at which the next fetch begins. */
  readonly lowWater: number;
  /** The number of ids that stay at hand while no id is drawn. Ids beyond that number go back. */
  readonly resting: number;
  /** The number of blocks to fetch. */
  blocksToFetch(start: FetchStart): number;
  /** Learns from a fetch that `blocksToFetch` began. */
  fetched(end: FetchEnd): void;
  /** Learns that only `used` ids were handed out in a second, and more than that are at hand. */
  rested(used: number): void;
}

/** The largest number of blocks ahead that can be asked for. */
const MAX_PREFETCH = 1000;

/** @throws InvalidOptionError unless it is `'adaptive'` or a number of blocks from 0 to 1000 */
export function prefetchPolicy(prefetch: Prefetch = 'adaptive', blockSize?: number): PrefetchPolicy {
  if (prefetch === 'adaptive') return new Adaptive(blockSize);
  if (Number.isInteger(prefetch) && prefetch >= 0 && prefetch <= MAX_PREFETCH)
    return new BlocksAhead(prefetch, blockSize);
  refuse('prefetch', `'adaptive' or a whole number from 0 to ${MAX_PREFETCH}`, prefetch);
}

/** Keeps a number of blocks ahead. With 0, takes one block when it is needed. */
class BlocksAhead implements PrefetchPolicy {
  readonly #ahead: number;
  #blockSize: number;

  constructor(ahead: number, blockSize = 1) {
    this.#ahead = ahead;
    this.#blockSize = blockSize;
  }

  get isAhead(): boolean {
    return this.#ahead > 0;
  }

  get lowWater(): number {
    return this.#ahead * this.#blockSize;
  }

  /** A number of blocks was asked for, so nothing goes back before the end. */
  get resting(): number {
    return Number.POSITIVE_INFINITY;
  }

  /** Those who wait are served by one fetch, unless exactly one block is asked for. */
  blocksToFetch({ left, wanted }: FetchStart): number {
    if (this.#ahead === 0) return 1;
    const missing = Math.ceil((wanted - left) / this.#blockSize);
    const atHand = Math.ceil(left / this.#blockSize);
    const blocks = Math.max(1, this.#ahead + 1 - atHand, this.#ahead + missing);
    return Math.min(blocks, mostBlocks(this.#blockSize, this.#ahead + 1));
  }

  fetched({ blocks, count }: FetchEnd): void {
    // A source may give one block at a time, so a fetch for many who wait says nothing about the size of a block.
    if (blocks <= this.#ahead + 1) this.#blockSize = Math.max(1, Math.floor(count / blocks));
  }

  rested(): void {}
}

/** The time for which a fetch should last at the present rate, ms. */
const HORIZON = 20;
/** The same as a multiple of the time that a fetch takes. The longer one counts. */
const LATENCIES = 4;
/** The longest time for which a fetch should last, ms. After so long a rest, the rate before the rest says nothing. */
const SECOND = 1000;
/** The most ids to ask for at a time. */
const MOST_IDS = 2 ** 24;

const mostBlocks = (blockSize: number, least: number) =>
  Math.max(least, Math.min(MAX_BLOCKS, Math.floor(MOST_IDS / blockSize)));

/**
 * Fetches when half of a planned fetch is left. A planned fetch is as many blocks as last for a while. From one fetch to the next the
 * plan at most doubles, so that a short burst does not count as a high rate, and at most halves, so that a short rest does not count
 * as a low one. A burst is served by a fetch of its own size, which leaves the plan as it is.
 */
class Adaptive implements PrefetchPolicy {
  #blockSize: number | undefined;
  /** The number of blocks of a planned fetch. */
  #blocks = 1;
  #duration = 0;
  #rate: RateMeter | undefined;
  /** The plan of the fetch that is under way, and its beginning. */
  #begun: { readonly blocks: number; readonly start: FetchStart } | undefined;
  readonly isAhead = true;

  constructor(blockSize: number | undefined) {
    this.#blockSize = blockSize;
  }

  get lowWater(): number {
    return this.#rate ? Math.floor((this.#blocks * (this.#blockSize as number)) / 2) : 0;
  }

  get resting(): number {
    return 2 * (this.#blockSize ?? Number.POSITIVE_INFINITY);
  }

  blocksToFetch(start: FetchStart): number {
    const blockSize = this.#blockSize;
    const blocks = blockSize === undefined ? 1 : this.#plan(start, blockSize);
    this.#begun = { blocks, start };
    if (blockSize === undefined) return 1;
    const missing = Math.ceil((start.wanted - start.left) / blockSize);
    return Math.min(mostBlocks(blockSize, 1), Math.max(blocks, missing));
  }

  #plan(start: FetchStart, blockSize: number): number {
    if (this.#rate === undefined) return this.#blocks;
    const wanted = Math.ceil((this.#rate.perMs(start) * this.#lasting) / blockSize);
    const least = start.now - this.#rate.last < SECOND ? this.#blocks / 2 : 1;
    return Math.ceil(Math.max(1, least, Math.min(this.#blocks * 2, wanted, mostBlocks(blockSize, 1))));
  }

  fetched({ duration, blocks, count }: FetchEnd): void {
    // A fetch of several blocks may give fewer than were asked for. It gives more ids only if the blocks have become larger.
    const isCertain = blocks === 1 || this.#blockSize === undefined || count > blocks * this.#blockSize;
    if (isCertain) this.#blockSize = Math.ceil(count / blocks);
    if (this.#begun === undefined) return;
    this.#blocks = this.#begun.blocks;
    this.#duration = duration;
    if (this.#rate) this.#rate.add(this.#begun.start);
    else this.#rate = new RateMeter(this.#begun.start.now);
  }

  rested(used: number): void {
    if (this.#blockSize === undefined) return;
    const wanted = Math.ceil(((used / SECOND) * this.#lasting) / this.#blockSize);
    this.#blocks = Math.max(1, Math.min(this.#blocks, wanted));
  }

  /** The time for which a fetch should last, ms. */
  get #lasting(): number {
    return Math.min(SECOND, Math.max(HORIZON, LATENCIES * this.#duration));
  }
}

/** Measures how fast ids are used, over the last {@link HORIZON} at least: two fetches in quick succession say nothing by themselves. */
class RateMeter {
  /** The beginning of the last fetch, ms. */
  last: number;
  // Two windows of time, one after the other, and the ids that were used in each.
  #earlier: { since: number; used: number };
  #present: { since: number; used: number };

  constructor(now: number) {
    this.last = now;
    this.#earlier = { since: now, used: 0 };
    this.#present = { since: now, used: 0 };
  }

  /** Ids that are used in a millisecond, or waited for. */
  perMs({ now, handedOut, wanted }: FetchStart): number {
    const used = this.#earlier.used + this.#present.used + handedOut + wanted;
    // Clocks are coarse, so assume that at least a microsecond has passed.
    return used / Math.max(0.001, now - this.#earlier.since);
  }

  add({ now, handedOut }: FetchStart): void {
    this.last = now;
    this.#present.used += handedOut;
    if (now - this.#present.since < HORIZON) return;
    this.#earlier = this.#present;
    this.#present = { since: now, used: 0 };
  }
}
