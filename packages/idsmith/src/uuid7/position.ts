import { ClockError, LeaseFencedError } from '../errors.js';
import type { LeaseWindow } from '../lease/window.js';
import { checkTime, leaveRoom, type Run } from './layout.js';

/** The longest time, ms, by which ids may run ahead of the highest reading of the clock. */
const MAX_LEAD = 10_000;

/** The place of the last id in time and in the random part, which only grows. */
export interface Position {
  /**
   * Claims the place for a run of `count` ids. The first id is one step above the place. A call that throws changes nothing.
   *
   * @param words random words; the four from index `at` on may begin a new millisecond
   * @throws TimeExhaustedError when the time does not fit 48 bits
   * @throws LeaseFencedError when the time lies outside the lease's window
   * @throws ClockError when the time would run too far ahead of the clock
   */
  claim(reading: number, count: number, words: Uint32Array, at: number): Run;
  /** Continues from the last id of the run. */
  leave(a: number, b: number, c: number): void;
  /** Begins the next run in a millisecond of its own, above all before. */
  startAfresh(): void;
}

/** The range of the upper 42 bits of the random part, and the most that a step adds to them. */
const UPPER_RANGE = 2 ** 42;
const LARGEST_STEP = 2 ** 24 + 1;

/** The position of a generator in one thread, with a lease or without. */
export class OwnPosition implements Position {
  /** The millisecond of the last id, −1 before the first. */
  ms = -1;
  a = 0;
  b = 0;
  c = 0;
  highMask = 0xffffff;
  lowMask = 0xffffffff;
  unit = 1;
  /** The highest reading that led to an id, or the start of a window if the window began ahead of the clock. */
  #highest = -1;
  #isFresh = true;
  #window: LeaseWindow | undefined;
  /** The millisecond of the last id in the window, −1 if there is none. */
  #lastInWindow = -1;

  claim(reading: number, count: number, words: Uint32Array, at: number): Run {
    const from = this.#window?.from ?? 0;
    const earliest = Math.max(reading, from);
    const hasRoom = this.a * 2 ** 30 + this.b + count * LARGEST_STEP < UPPER_RANGE;
    const isNew = earliest > this.ms || this.#isFresh || !hasRoom;
    const ms = checkTime(isNew ? Math.max(earliest, this.ms + 1) : this.ms);
    this.#checkWindow(ms);
    checkLead(ms, Math.max(this.#highest, earliest), isNew);
    if (isNew) this.#begin(ms, words, at);
    this.#highest = Math.max(this.#highest, earliest);
    this.#lastInWindow = ms;
    return this;
  }

  leave(a: number, b: number, c: number): void {
    this.a = a;
    this.b = b;
    this.c = c;
  }

  startAfresh(): void {
    this.#isFresh = true;
  }

  /** Continues in another window, or in the same window with another end. */
  enter(window: LeaseWindow): void {
    const before = this.#window;
    this.#window = window;
    this.unit = 2 ** 16;
    this.lowMask = 0xffff0000;
    if (before?.node === window.node && before.from === window.from) return;
    this.#isFresh = true;
    this.#lastInWindow = -1;
  }

  /** The millisecond of the last id in the present window, −1 if there is none. */
  get lastInWindow(): number {
    return this.#lastInWindow;
  }

  #begin(ms: number, words: Uint32Array, at: number): void {
    const upper = leaveRoom(
      ((words[at] as number) >>> 20) * 2 ** 30 + ((words[at + 1] as number) >>> 2),
      UPPER_RANGE,
    );
    this.ms = ms;
    this.a = Math.floor(upper / 2 ** 30);
    this.b = upper % 2 ** 30;
    const node = this.#window?.node ?? 0;
    this.c = (((words[at + 2] as number) & this.lowMask) | node) >>> 0;
    this.#isFresh = false;
  }

  #checkWindow(ms: number): void {
    if (!this.#window) return;
    const { node, from, until } = this.#window;
    if (ms >= from && ms < until) return;
    throw new LeaseFencedError(
      `the lease of node ${node} allows times from ${from} to before ${until}, not ${ms}: the lease was not renewed, or the clock is ahead`,
    );
  }
}

/** @throws ClockError when a new millisecond would be too far ahead of the clock's highest reading */
export function checkLead(ms: number, highest: number, isNew: boolean): void {
  if (!isNew || ms - highest <= MAX_LEAD) return;
  throw new ClockError(
    `the clock has not passed ${highest}, and ids have run ${MAX_LEAD} ms ahead of it: set the clock right, or wait`,
  );
}
