import { refuse } from '../options.js';
import { MAX_BLOCKS } from './blocks.js';

/** The number of blocks that a sequence fetches ahead of its callers. */
export type Prefetch = 'adaptive' | number;

/** The measurements of a fetch. */
interface FetchReport {
  /** Milliseconds, on any clock that does not go back. */
  readonly startedAt: number;
  readonly endedAt: number;
  /** The number of ids that were handed out between the start of the previous fetch and the start of this one. */
  readonly handedOut: number;
  readonly blocks: number;
  readonly count: number;
}

/** The decision when to fetch, and how much. */
export interface PrefetchPolicy {
  /** True when ids are fetched before they are needed. */
  readonly isAhead: boolean;
  /** The number of ids at hand at which the next fetch begins. */
  readonly lowWater: number;
  /** The number of blocks to fetch when `left` ids are at hand and callers wait for `wanted` ids. */
  blocksToFetch(left: number, wanted: number): number;
  /** Learns from a fetch. */
  fetched(report: FetchReport): void;
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

  blocksToFetch(left: number): number {
    return Math.max(1, this.#ahead + 1 - Math.ceil(left / this.#blockSize));
  }

  fetched({ blocks, count }: FetchReport): void {
    this.#blockSize = Math.max(1, Math.floor(count / blocks));
  }
}

/** The time for which a fetch should last at the present rate, ms. */
const HORIZON = 20;
/** The same as a multiple of the time that a fetch takes. The longer one counts. */
const LATENCIES = 8;
/** The most ids to ask for at a time. */
const MOST_IDS = 2 ** 24;

/**
 * Fetches when half of the last fetch is used, as many blocks as last for a while. From one fetch to the next the number at most
 * doubles, so that a short burst does not count as a high rate, and at most halves, so that a short rest does not count as a low one.
 */
class Adaptive implements PrefetchPolicy {
  #blocks = 1;
  #blockSize: number | undefined;
  #lastStart: number | undefined;
  readonly isAhead = true;
  lowWater = 0;

  constructor(blockSize: number | undefined) {
    this.#blockSize = blockSize;
  }

  blocksToFetch(_left: number, wanted: number): number {
    if (this.#blockSize === undefined) return 1;
    const most = Math.max(1, Math.min(MAX_BLOCKS, Math.floor(MOST_IDS / this.#blockSize)));
    return Math.min(most, Math.max(this.#blocks, Math.ceil(wanted / this.#blockSize)));
  }

  fetched({ startedAt, endedAt, handedOut, blocks, count }: FetchReport): void {
    // A fetch of several blocks may give fewer than were asked for. It gives more ids only if the blocks have become larger.
    const isCertain = blocks === 1 || this.#blockSize === undefined || count > blocks * this.#blockSize;
    if (isCertain || this.#blockSize === undefined) this.#blockSize = Math.ceil(count / blocks);
    if (this.#lastStart !== undefined) {
      // Clocks of browsers are coarse, so assume that at least a microsecond has passed.
      const rate = handedOut / Math.max(0.001, startedAt - this.#lastStart);
      const ids = rate * Math.max(HORIZON, LATENCIES * (endedAt - startedAt));
      const blocksWanted = Math.ceil(ids / this.#blockSize);
      this.#blocks = Math.max(1, this.#blocks / 2, Math.min(this.#blocks * 2, blocksWanted, MAX_BLOCKS));
      this.#blocks = Math.ceil(this.#blocks);
    }
    this.#lastStart = startedAt;
    this.lowWater = Math.floor(count / 2);
  }
}
