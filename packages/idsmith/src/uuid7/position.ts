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
}

/** The range of the upper 42 bits of the random part, and the most that a step adds to them. */
const UPPER_RANGE = 2 ** 42;
const LARGEST_STEP = 2 ** 24 + 1;

/** A position in one thread: of `uuid7()`, and the base of a generator's. */
export class LocalPosition implements Position {
  /** The millisecond of the last id, −1 before the first. */
  ms = -1;
  a = 0;
  b = 0;
  c = 0;
  highMask = 0xffffff;
  lowMask = 0xffffffff;
  unit = 1;
  /** The node id in the lowest bits of `c`, where `lowMask` leaves room for one. */
  protected node = 0;

  claim(reading: number, count: number, words: Uint32Array, at: number): Run {
    const isFull = this.a * 2 ** 30 + this.b + count * LARGEST_STEP >= UPPER_RANGE;
    const isNew = isFull || reading > this.ms;
    const ms = isNew ? Math.max(reading, this.ms + 1) : this.ms;
    this.allow(ms, reading, isNew);
    if (isNew) {
      const random = ((words[at] as number) >>> 20) * 2 ** 30 + ((words[at + 1] as number) >>> 2);
      const upper = leaveRoom(random, UPPER_RANGE);
      this.ms = ms;
      this.a = Math.floor(upper / 2 ** 30);
      this.b = upper % 2 ** 30;
      this.c = (((words[at + 2] as number) & this.lowMask) | this.node) >>> 0;
    }
    return this;
  }

  leave(a: number, b: number, c: number): void {
    this.a = a;
    this.b = b;
    this.c = c;
  }

  /** Throws if ids must not carry the time `ms`, before anything changes. */
  protected allow(_ms: number, _reading: number, _isNew: boolean): void {}
}

/** The position of a generator in one thread, with a lease or without. */
export class OwnPosition extends LocalPosition {
  /** The highest reading that led to an id, or the start of a window if the window began ahead of the clock. */
  #highest = -1;
  #window: LeaseWindow | undefined;
  /** The millisecond of the last id in the window, −1 if there is none. */
  #lastInWindow = -1;

  override claim(reading: number, count: number, words: Uint32Array, at: number): Run {
    const earliest = Math.max(reading, this.#window?.from ?? 0);
    const run = super.claim(earliest, count, words, at);
    this.#highest = Math.max(this.#highest, earliest);
    this.#lastInWindow = this.ms;
    return run;
  }

  /** Begins the next run in a millisecond of its own, above all before. */
  startAfresh(): void {
    // As if the millisecond had no place left.
    this.a = 2 ** 12;
  }

  /** Continues in another window, or in the same window with another end. */
  enter(window: LeaseWindow): void {
    const before = this.#window;
    this.#window = window;
    this.node = window.node;
    this.unit = 2 ** 16;
    this.lowMask = 0xffff0000;
    if (before?.node === window.node && before.from === window.from) return;
    this.startAfresh();
    this.#lastInWindow = -1;
  }

  /** The millisecond of the last id in the present window, −1 if there is none. */
  get lastInWindow(): number {
    return this.#lastInWindow;
  }

  protected override allow(ms: number, reading: number, isNew: boolean): void {
    checkTime(ms);
    const window = this.#window;
    if (window && !(ms >= window.from && ms < window.until))
      throw new LeaseFencedError(
        `the lease of node ${window.node} allows times from ${window.from} to before ${window.until}, not ${ms}: the lease was ` +
          'not renewed, or the clock is ahead',
      );
    checkLead(ms, Math.max(this.#highest, reading), isNew);
  }
}

/** @throws ClockError when a new millisecond would be too far ahead of the clock's highest reading */
export function checkLead(ms: number, highest: number, isNew: boolean): void {
  if (!isNew || ms - highest <= MAX_LEAD) return;
  throw new ClockError(
    `the clock has not passed ${highest}, and ids have run ${MAX_LEAD} ms ahead of it: set the clock right, or wait`,
  );
}
