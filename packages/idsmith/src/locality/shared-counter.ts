import { isA, refuse, requireChoice, requireInteger, requireKnown } from '../options.js';
import { requireMemory, requireNoLease, requireSharedMemory } from '../support/shared-memory.js';
import { claimBy, isBy, LEDGER_BYTES, MAX_STREAM, msOf } from './ledger.js';
import { provideLocalityThreads, type ThreadCounter } from './minter.js';
import { type NodeSource, requireNode } from './node.js';
import { STYLE_NAMES, styleFrom } from './options.js';
import { checkTime } from './timeline.js';

// Several threads advance one counter. They share 24 bytes: the number of ids taken so far (64 bits),
// the present millisecond with the block that it was claimed for (48 + 16 bits), and the counter at the start (32 bits).
//
// Ids of a shared counter are numbered: the n-th id has the counter start + n × step. Two ids with the same text are at least 2^24
// numbers apart, so it is enough that ids of one millisecond are closer than that. Numbers come in blocks of 2^20. A
// millisecond belongs to the block that it was claimed for. The block before that and the 14 after it may use it, too.
// Example: the counter is at millisecond 500, claimed for block 7. A thread with numbers of block 21 stamps 500. A thread with
// numbers of block 22 claims 501 first. This holds for any number of threads. A thread that stops at any point does not
// delay the others.

const POSITION = 0;
const PRESENT = 1;
/** The size of the shared memory in bytes. */
const COUNTER_BYTES = 24;

const BLOCK_FIELD = 16n;
const BLOCK_MASK = 0xffffn;
/** Blocks are numbered modulo 2^16. */
const BLOCKS = 2 ** 16;
/** The number of blocks that may use a millisecond, and the number of them before the block that it was claimed for. */
const WIDTH = 16;
const BEFORE = 1;

/** A counter that several threads advance, with the milliseconds of its ids. */
export class SharedCounter implements ThreadCounter {
  ms = 0;
  readonly #words: BigUint64Array;
  readonly #start: number;
  readonly #claim: BigUint64Array;
  readonly #stream: number;
  /** The count of numbers in a block. */
  readonly #blockSize: number;
  // The last known present word, and its parts.
  #seen = -1n;
  #presentMs = 0;
  #presentBlock = 0;

  /** @param blockBits the size of blocks as a power of two; tests use others than 20 */
  constructor(memory: SharedArrayBuffer, ledger: ArrayBufferLike, stream: number, blockBits = 20) {
    this.#words = new BigUint64Array(memory, 0, 2);
    this.#start = new Int32Array(memory, 16, 1)[0] as number;
    this.#claim = new BigUint64Array(ledger, 0, 1);
    this.#stream = stream;
    this.#blockSize = 2 ** blockBits;
  }

  /** Memory for a counter that starts from `start` and has claimed the millisecond `ms` in its ledger. */
  static memory(start: number, ms: number): SharedArrayBuffer {
    const memory = new SharedArrayBuffer(COUNTER_BYTES);
    new BigUint64Array(memory)[PRESENT] = presentOf(ms, 0);
    new Int32Array(memory, 16, 1)[0] = start;
    return memory;
  }

  counter(step: number): number {
    return this.#counterAt(Number(Atomics.load(this.#words, POSITION)), step);
  }

  take(reading: number, count: number, step: number): number {
    checkTime(reading);
    for (;;) {
      const first = Number(Atomics.add(this.#words, POSITION, BigInt(count)));
      if (this.#stamp(reading, first, first + count - 1)) return this.#counterAt(first, step);
      // The thread slept while the others took several blocks. Its numbers stay unused.
    }
  }

  /** Finds the time for the numbers from `first` to `last`. Returns false if it is too late for them. */
  #stamp(reading: number, first: number, last: number): boolean {
    const [low, high] = [this.#blockOf(first), this.#blockOf(last)];
    for (;;) {
      const present = Atomics.load(this.#words, PRESENT);
      if (present !== this.#seen) this.#see(present);
      // Block numbers repeat every 2^16 blocks. The distance tells the rounds apart.
      const behind = Number(Atomics.load(this.#words, POSITION)) - first;
      if (behind >= (BLOCKS / 4) * this.#blockSize) return false;
      const [ms, block] = [this.#presentMs, this.#presentBlock];
      if (isLate(low, block)) return false;
      if (reading <= ms && isWithin(low, block) && isWithin(high, block)) {
        this.ms = ms;
        return true;
      }
      this.#move(present, Math.max(reading, ms + 1), high);
    }
  }

  #see(present: bigint): void {
    this.#seen = present;
    this.#presentMs = Number(present >> BLOCK_FIELD);
    this.#presentBlock = Number(present & BLOCK_MASK);
  }

  /** Moves the counter to `ms` or later for `block`, unless another thread has moved it since. */
  #move(present: bigint, ms: number, block: number): void {
    for (;;) {
      const newest = Atomics.load(this.#claim, 0);
      const claimed = msOf(newest);
      // A thread of this counter may have claimed a millisecond and stopped before its use.
      const isOurs = claimed >= ms && isBy(this.#stream, newest);
      const next = isOurs ? claimed : checkTime(Math.max(ms, claimed + 1));
      const claim = claimBy(this.#stream, next);
      if (!isOurs && Atomics.compareExchange(this.#claim, 0, newest, claim) !== newest) continue;
      Atomics.compareExchange(this.#words, PRESENT, present, presentOf(next, block));
      return;
    }
  }

  #blockOf(number: number): number {
    return Math.floor(number / this.#blockSize) % BLOCKS;
  }

  #counterAt(number: number, step: number): number {
    return (this.#start + Math.imul(number, step)) | 0;
  }
}

function presentOf(ms: number, block: number): bigint {
  return (BigInt(ms) << BLOCK_FIELD) | BigInt(block);
}

/** True if ids of block `own` may carry the millisecond that was claimed for `block`. */
function isWithin(own: number, block: number): boolean {
  return (own - block + BEFORE + BLOCKS) % BLOCKS < WIDTH;
}

/** True if the counter's millisecond was claimed for a block too far after `own`. */
function isLate(own: number, block: number): boolean {
  const ahead = (block - own + BLOCKS) % BLOCKS;
  return ahead > BEFORE && ahead < BLOCKS / 2;
}

/** The ledger itself if its memory is shared, else a copy in shared memory. */
export function sharedLedger(ledger: ArrayBufferLike): SharedArrayBuffer {
  if (isA('SharedArrayBuffer', ledger)) return ledger as SharedArrayBuffer;
  const shared = new SharedArrayBuffer(LEDGER_BYTES);
  new Uint8Array(shared).set(new Uint8Array(ledger));
  return shared;
}

const HANDLE_NAMES = [...STYLE_NAMES, 'node', 'counter', 'ledger', 'stream', 'seededIn'];

/** The code behind `share()` and `attach()`. Loading this module provides it. */
export const localityThreads = /* @__PURE__ */ provideLocalityThreads({
  requireShareable(isLeased) {
    requireNoLease(isLeased);
    requireSharedMemory();
  },

  share: ({ ledger, stream }, counter, ms) => ({
    counter: SharedCounter.memory(counter, ms),
    ledger: sharedLedger(ledger),
    stream,
  }),

  requireHandle(handle) {
    if (typeof handle !== 'object' || handle === null) refuse('handle', 'a handle from share()', handle);
    const { counter, ledger, stream, seededIn, node } = requireKnown('handle', handle, HANDLE_NAMES);
    requireMemory('handle.counter', counter, COUNTER_BYTES);
    requireMemory('handle.ledger', ledger, LEDGER_BYTES);
    requireInteger('handle.stream', stream, 0, MAX_STREAM);
    requireInteger('handle.seededIn', seededIn, 0, Number.MAX_SAFE_INTEGER);
    const known = requireNode('handle.node', node);
    const sources = ['machine', 'random', 'given', 'lease'] as const;
    const source = requireChoice<NodeSource>('handle.node.source', node.source, sources);
    return { ...styleFrom(handle), counter, ledger, stream, seededIn, node: { ...known, source } };
  },

  attach: ({ counter, ledger, stream }) => new SharedCounter(counter, ledger, stream),
});
