import { refuse, requireKnown } from '../options.js';
import { requireMemory, requireNoLease, requireSharedMemory } from '../support/shared-memory.js';
import { provideUuid7Threads, type ThreadPosition } from './generator.js';
import { checkTime, leaveRoom, type Run } from './layout.js';
import { checkLead } from './position.js';

// Threads that share a generator share 16 bytes. The first eight hold the present millisecond (48 bits) and the present slot
// (16 bits). A slot is the upper 16 bits of the random part. A thread claims the next slot, or a new millisecond, by
// compare-exchange, and makes one run of ids in it: no other thread has the same upper bits. So ids never repeat, and an id
// that is asked for after another one was made is larger, in whichever threads. The next eight bytes hold the highest reading
// of the clock.
//
// The lower 58 bits of a run begin below 2^57. The steps are at most 2^48, and a run has at most 512 of them, so a run does
// not leave its slot.

const PRESENT = 0;
const HIGHEST = 1;
/** The size of the shared memory in bytes. */
const SHARED_BYTES = 16;
const SLOT_BITS = 16n;
const SLOTS = 2 ** 16;

/** The position of a generator that several threads share. */
class SharedPosition implements ThreadPosition {
  ms = 0;
  a = 0;
  b = 0;
  c = 0;
  readonly highMask = 0xffff;
  readonly lowMask = 0xffffffff;
  readonly unit = 1;
  readonly #words: BigUint64Array;
  #isFresh = false;

  constructor(memory: SharedArrayBuffer) {
    this.#words = new BigUint64Array(memory);
  }

  /** Memory for a position above the millisecond `ms`. */
  static memory(ms: number): SharedArrayBuffer {
    const memory = new SharedArrayBuffer(SHARED_BYTES);
    const used = Math.max(ms, 0);
    new BigUint64Array(memory).set([presentOf(used, SLOTS - 1), BigInt(used)]);
    return memory;
  }

  claim(reading: number, _count: number, words: Uint32Array, at: number): Run {
    checkTime(reading);
    const start = leaveRoom((words[at] as number) >>> 16, SLOTS);
    for (;;) {
      const present = Atomics.load(this.#words, PRESENT);
      const ms = Number(present >> SLOT_BITS);
      const slot = Number(present & 0xffffn);
      const isNew = reading > ms || slot === SLOTS - 1 || this.#isFresh;
      const next = isNew ? checkTime(Math.max(reading, ms + 1)) : ms;
      checkLead(next, Math.max(reading, Number(Atomics.load(this.#words, HIGHEST))), isNew);
      // Before the claim, so that no thread sees a claimed millisecond without the reading behind it.
      if (reading > ms) this.#raiseHighest(BigInt(reading));
      const place = presentOf(next, isNew ? start : slot + 1);
      if (Atomics.compareExchange(this.#words, PRESENT, present, place) !== present) continue;
      this.#isFresh = false;
      this.ms = next;
      this.#enter(isNew ? start : slot + 1, words, at);
      return this;
    }
  }

  leave(): void {}

  startAfresh(): void {
    this.#isFresh = true;
  }

  #enter(slot: number, words: Uint32Array, at: number): void {
    this.a = slot >>> 4;
    this.b = ((slot & 15) << 26) | ((words[at + 1] as number) >>> 7);
    this.c = words[at + 2] as number;
  }

  #raiseHighest(reading: bigint): void {
    for (let seen = Atomics.load(this.#words, HIGHEST); seen < reading; ) {
      const before = Atomics.compareExchange(this.#words, HIGHEST, seen, reading);
      if (before === seen) return;
      seen = before;
    }
  }
}

function presentOf(ms: number, slot: number): bigint {
  return (BigInt(ms) << SLOT_BITS) | BigInt(slot);
}

/** The code behind `share()` and `attach()`. Loading this module provides it. */
export const uuid7Threads = /* @__PURE__ */ provideUuid7Threads({
  share(ms, isLeased) {
    requireNoLease(isLeased);
    requireSharedMemory();
    return { position: SharedPosition.memory(ms) };
  },

  requireHandle(handle) {
    if (typeof handle !== 'object' || handle === null) refuse('handle', 'a handle from share()', handle);
    const { position } = requireKnown('handle', handle, ['position']);
    requireMemory('handle.position', position, SHARED_BYTES);
    return { position };
  },

  attach: ({ position }) => new SharedPosition(position),
});
