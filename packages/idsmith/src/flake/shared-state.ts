import type { LeaseWindow } from '../lease/window.js';
import type { FlakeState } from './state.js';

/** Shared memory: position, end and first tick of the window (8 bytes each), node and version of the window (4 each). */
const BYTES = 32;
const CLOSED = -1n;
/** Stands for a window without end. */
const ENDLESS = 2n ** 62n;

/**
 * The state of a generator that several threads advance at once.
 *
 * Tick and sequence are one 64-bit number, advanced by compare-exchange: a thread that was stopped between reading and
 * advancing fails, and reads again. The window is written only by the thread that holds the lease, under a version that
 * is odd meanwhile; with a new node it moves the position too, so that an advance which still meant the old node fails.
 */
export class SharedState implements FlakeState {
  readonly buffer: SharedArrayBuffer;
  tick = -1;
  sequence = 0;
  node = 0;
  until = 0;
  firstTick = 0;
  closed = false;
  readonly #words: BigInt64Array;
  readonly #small: Int32Array;
  readonly #sequenceBits: number;
  #seen = CLOSED;

  constructor(buffer: SharedArrayBuffer, sequenceBits: number) {
    this.buffer = buffer;
    this.#words = new BigInt64Array(buffer, 0, 3);
    this.#small = new Int32Array(buffer, 24, 2);
    this.#sequenceBits = sequenceBits;
  }

  /** New memory that goes on where `state` is. */
  static from(state: FlakeState, sequenceBits: number): SharedState {
    const shared = new SharedState(new SharedArrayBuffer(BYTES), sequenceBits);
    Atomics.store(shared.#words, 0, state.closed ? CLOSED : shared.#position(state.tick, state.sequence));
    shared.#writeWindow(state.node, state.until, state.firstTick);
    shared.load();
    return shared;
  }

  load(): void {
    for (;;) {
      const version = Atomics.load(this.#small, 1);
      this.#see(Atomics.load(this.#words, 0));
      const until = Atomics.load(this.#words, 1);
      this.node = Atomics.load(this.#small, 0) >>> 0;
      this.until = until === ENDLESS ? Number.POSITIVE_INFINITY : Number(until);
      this.firstTick = Number(Atomics.load(this.#words, 2));
      if (version % 2 === 0 && version === Atomics.load(this.#small, 1)) return;
    }
  }

  advance(tick: number, sequence: number): boolean {
    const next = this.#position(tick, sequence);
    return Atomics.compareExchange(this.#words, 0, this.#seen, next) === this.#seen;
  }

  move({ node, until }: LeaseWindow, firstTick: number): void {
    this.load();
    if (node === this.node && this.tick >= firstTick) {
      // The same window for longer: a thread that still sees the old end only stops too early.
      Atomics.store(this.#words, 1, toWord(until));
      return;
    }
    Atomics.add(this.#small, 1, 1);
    let passed: number;
    do {
      this.#see(Atomics.load(this.#words, 0));
      // A tick is passed over whole, so that the position is another in any case.
      passed = Math.max(this.tick + 1, firstTick - 1);
    } while (!this.closed && !this.advance(passed, 2 ** this.#sequenceBits - 1));
    this.#writeWindow(node, until, passed + 1);
    Atomics.add(this.#small, 1, 1);
  }

  close(): number {
    const last = Atomics.exchange(this.#words, 0, CLOSED);
    if (last !== CLOSED) this.#see(last);
    this.closed = true;
    return this.tick;
  }

  #writeWindow(node: number, until: number, firstTick: number): void {
    Atomics.store(this.#small, 0, node);
    Atomics.store(this.#words, 1, toWord(until));
    Atomics.store(this.#words, 2, BigInt(firstTick));
  }

  #see(position: bigint): void {
    this.#seen = position;
    this.closed = position === CLOSED;
    if (this.closed) return;
    this.tick = Number(position >> BigInt(this.#sequenceBits)) - 1;
    this.sequence = Number(BigInt.asUintN(this.#sequenceBits, position));
  }

  /** One is added to the tick, so that the position before the first id, in tick −1, is not negative. */
  #position(tick: number, sequence: number): bigint {
    return (BigInt(tick + 1) << BigInt(this.#sequenceBits)) | BigInt(sequence);
  }
}

function toWord(until: number): bigint {
  return until === Number.POSITIVE_INFINITY ? ENDLESS : BigInt(until);
}
