import { warn } from '#runtime';
import { type Clock, systemClock, wholeMs } from '../clock.js';
import { ClockError, LeaseFencedError, TimeExhaustedError, UnsafeIntegerError } from '../errors.js';
import { bindLease } from '../lease/window.js';
import { refuse, requireChoice, requireInteger, requireMethod } from '../options.js';
import { defineLayout, Layout } from './layout.js';
import { layouts } from './layouts.js';
import type { FlakeOptions, SharedFlake } from './options.js';
import { SharedState } from './shared-state.js';
import { type FlakeState, OwnState } from './state.js';

const YEAR = 365 * 86_400_000;
/** A clock that gives the same reading this many times in a row stands still: a real one moves on after some 25,000. */
const PATIENCE = 10_000_000;
/** More ids in one array would take over a gigabyte. */
const MAX_BATCH = 2 ** 24;
/** Where the lower half of a 64-bit number lies in this machine's byte order. */
const LOW = new Uint32Array(BigUint64Array.of(1n).buffer)[0] === 1 ? 0 : 1;
const HIGH = 1 - LOW;

/**
 * Makes flakes: 64-bit ids that sort by time. Ids of one generator strictly increase.
 *
 * @example
 * const ids = new FlakeGenerator({ node: 3 });
 * ids.next(); // 1703865194431643648n
 */
export class FlakeGenerator {
  readonly #layout: Layout;
  readonly #clock: Clock;
  readonly #rules: Pick<SharedFlake, 'onFull' | 'onClockBack' | 'maxBackward'>;
  readonly #maxSequence: number;
  readonly #shift: number;
  /** Whether the sequence lies within the lower 32 bits, so that the ids of a tick differ in these alone. */
  readonly #isLow: boolean;
  #state: FlakeState;
  /** The state if it is this thread's own: then the next id of a tick needs no look at anything else. */
  #own: OwnState | undefined;
  #handle: SharedFlake | undefined;
  /** The highest reading of the clock that led to an id, and the one for which `next()` may go on in the present tick. */
  #highest = 0;
  #reading = -1;

  // One id as a 64-bit number, and the same as two 32-bit numbers; `#base` is its lower half with sequence 0.
  readonly #id = new BigUint64Array(1);
  readonly #halves = new Uint32Array(this.#id.buffer);
  #base = 0;

  /**
   * @throws InvalidOptionError naming the first option that is wrong
   * @throws TimeExhaustedError when the layout's time has run out
   */
  constructor(options: FlakeOptions);
  /** @internal */
  constructor(options: { clock?: Clock }, handle: SharedFlake);
  constructor(options: FlakeOptions | { clock?: Clock }, handle?: SharedFlake) {
    if (typeof options !== 'object' || options === null) refuse('options', 'an object', options);
    const given = (handle ?? options) as FlakeOptions;
    this.#layout = handle ? defineLayout(handle.layout) : layoutOf(options as FlakeOptions);
    this.#clock = requireMethod('clock', 'now', options.clock, systemClock);
    this.#rules = {
      onFull: requireChoice('onFull', given.onFull, ['wait', 'borrow']),
      onClockBack: requireChoice('onClockBack', given.onClockBack, ['hold', 'throw']),
      maxBackward: requireInteger('maxBackward', given.maxBackward ?? 10_000, 0, YEAR),
    };
    const { shift, bits } = this.#layout.fields.sequence;
    this.#maxSequence = this.#layout.max('sequence');
    this.#shift = shift;
    this.#isLow = shift + bits <= 32;
    this.#checkExpiry();
    this.#handle = handle;
    this.#own = handle ? undefined : new OwnState(this.#maxSequence);
    this.#state = this.#own ?? new SharedState((handle as SharedFlake).state, bits);
    if (!handle) this.#start((options as FlakeOptions).node);
  }

  /**
   * The next id.
   *
   * @throws ClockError when the clock gives no time, stands still in a full tick, or went back further than allowed
   * @throws LeaseFencedError when the lease's window has ended
   * @throws TimeExhaustedError when the layout's time has run out
   */
  next(): bigint {
    const own = this.#own;
    if (own !== undefined && own.sequence < this.#maxSequence && this.#clock.now() === this.#reading) {
      this.#halves[LOW] = this.#base | (++own.sequence << this.#shift);
      return this.#id[0] as bigint;
    }
    const { tick, sequence, node } = this.#claim(1);
    this.#aim(tick, node, sequence);
    return this.#id[0] as bigint;
  }

  /** The next id in decimal digits. */
  nextString(): string {
    return this.next().toString();
  }

  /**
   * The next id as a number.
   *
   * @throws UnsafeIntegerError when the layout has more than 53 bits; no id is taken then
   */
  nextNumber(): number {
    if (this.#layout.bits > 53) {
      throw new UnsafeIntegerError(
        `ids of ${this.#layout.bits} bits do not fit a number; use next() or nextString()`,
      );
    }
    return Number(this.next());
  }

  /**
   * `count` ids at once.
   *
   * @throws InvalidOptionError unless `count` is a whole number from 1 to 2^24
   */
  batch(count: number): bigint[] {
    requireInteger('count', count, 1, MAX_BATCH);
    const ids = new BigUint64Array(count);
    this.fill(ids);
    return Array.from(ids);
  }

  /**
   * Fills `target` with ids, and returns how many that is.
   *
   * @throws InvalidOptionError when `target` is not an array of 64-bit integers
   */
  fill(target: BigUint64Array | BigInt64Array): number {
    if (!(target instanceof BigUint64Array || target instanceof BigInt64Array)) {
      refuse('target', 'a BigUint64Array or BigInt64Array', target);
    }
    for (let done = 0; done < target.length; ) {
      const { tick, node, sequence, count } = this.#claim(target.length - done);
      if (this.#isLow) this.#write(target, done, this.#layout.pack(tick, node, 0), sequence, count);
      else for (let i = 0; i < count; i++) target[done + i] = this.#layout.pack(tick, node, sequence + i);
      done += count;
    }
    // `next()` may not count on from what it aimed at before.
    this.#reading = -1;
    return target.length;
  }

  /**
   * Puts the state into shared memory and returns a handle for `attach()` in worker threads.
   *
   * @throws InvalidOptionError where the runtime has no `SharedArrayBuffer`, or for a layout of which time and sequence
   *   take more than 62 bits
   */
  share(): SharedFlake {
    if (this.#handle) return this.#handle;
    const { epoch, tick, order, fields } = this.#layout;
    if (typeof SharedArrayBuffer === 'undefined')
      refuse('share()', 'called where SharedArrayBuffer is', undefined);
    const wide = fields.time.bits + fields.sequence.bits;
    if (wide > 62) refuse('timeBits and sequenceBits', '62 at most for share()', wide);
    const state = SharedState.from(this.#state, fields.sequence.bits);
    this.#state = state;
    this.#own = undefined;
    this.#handle = {
      state: state.buffer,
      layout: {
        ...{ epoch, tick, order },
        timeBits: fields.time.bits,
        nodeBits: fields.node.bits,
        sequenceBits: fields.sequence.bits,
      },
      ...this.#rules,
    };
    return this.#handle;
  }

  /**
   * A generator that counts along with the one whose `share()` gave the handle, in whatever thread that is.
   *
   * @throws InvalidOptionError when the handle is not what `share()` gave
   */
  static attach(handle: SharedFlake, options: { clock?: Clock } = {}): FlakeGenerator {
    if (!(handle?.state instanceof SharedArrayBuffer)) refuse('handle', 'what share() gave', handle);
    return new FlakeGenerator(options, handle);
  }

  #checkExpiry(): void {
    const { expires } = this.#layout;
    const left = expires.getTime() - wholeMs(this.#clock.now());
    const when = expires.toISOString();
    if (left <= 0) throw new TimeExhaustedError(`this layout's time ended at ${when}`);
    if (left < YEAR) warn(`this layout's time ends at ${when}`, 'TIME_EXHAUSTED');
  }

  #start(node: FlakeOptions['node']): void {
    if (typeof node !== 'object' || node === null) {
      requireInteger('node', node, 0, this.#layout.max('node'));
      this.#state.move({ node: node as number, from: 0, until: Number.POSITIVE_INFINITY }, 0);
      return;
    }
    if (typeof node[bindLease] !== 'function') refuse('node', 'a node id or a lease', node);
    const move = (window: { node: number; from: number; until: number }) => {
      const { epoch, tick } = this.#layout;
      this.#state.move(window, Math.ceil((window.from - epoch) / tick));
    };
    const close = () => {
      this.#reading = -1;
      const tick = this.#state.close();
      return tick < 0 ? -1 : this.#layout.timeOf(tick);
    };
    const nodes = this.#layout.max('node') + 1;
    const window = node[bindLease]({ nodes, layout: this.#layout.fingerprint, move, close });
    move(window);
  }

  /** Takes up to `want` ids of one tick. Where none is to be had yet it waits. */
  #claim(want: number): { tick: number; node: number; sequence: number; count: number } {
    for (let now = this.#read(); ; ) {
      const state = this.#state;
      state.load();
      const clockTick = this.#layout.tickOf(now);
      let { tick } = state;
      let sequence = state.sequence + 1;
      if (clockTick > tick || (sequence > this.#maxSequence && this.#mayBorrow(tick + 1, now))) {
        tick = Math.max(tick + 1, clockTick);
        sequence = 0;
      } else if (sequence > this.#maxSequence) {
        now = this.#awaitTick(tick, now);
        continue;
      }
      this.#checkWindow(tick);
      const count = Math.min(want, this.#maxSequence - sequence + 1);
      if (!state.advance(tick, sequence + count - 1)) continue;
      // A reading that led to no id is forgotten: one far ahead, outside the window, would else count as a clock gone back.
      this.#highest = Math.max(this.#highest, now);
      this.#reading = this.#isLow ? now : -1;
      return { tick, node: state.node, sequence, count };
    }
  }

  /** The clock's reading, held to what the rules say of one that steps back. */
  #read(): number {
    const now = wholeMs(this.#clock.now());
    if (now < this.#layout.epoch)
      throw new ClockError(`the clock gives ${now}, before the epoch of the layout`);
    const back = this.#highest - now;
    if (back > 0 && (this.#rules.onClockBack === 'throw' || back > this.#rules.maxBackward)) {
      throw new ClockError(`the clock went back by ${back} ms, to ${now}`);
    }
    return now;
  }

  /**
   * Whether a tick may be used ahead of the clock: when that is the rule, or the clock is being held anyway, or a lease's
   * window begins with it.
   */
  #mayBorrow(tick: number, now: number): boolean {
    const held = now < this.#highest || tick <= this.#state.firstTick;
    const ahead = this.#layout.timeOf(tick) - now;
    return (held || this.#rules.onFull === 'borrow') && ahead <= this.#rules.maxBackward;
  }

  /** Spins until the clock has passed `tick`, and returns its reading. */
  #awaitTick(tick: number, since: number): number {
    let last = since;
    for (let same = 0; same < PATIENCE; same++) {
      const now = this.#read();
      if (this.#layout.tickOf(now) > tick) return now;
      if (now !== last) same = 0;
      last = now;
    }
    throw new ClockError(`the clock stands still at ${last}, and its tick is full`);
  }

  #checkWindow(tick: number): void {
    const { closed, until, node } = this.#state;
    if (tick > this.#layout.max('time')) {
      throw new TimeExhaustedError(`this layout's time ended at ${this.#layout.expires.toISOString()}`);
    }
    if (closed) throw new LeaseFencedError(`the lease of node ${node} was released`);
    if (this.#layout.timeOf(tick) < until) return;
    throw new LeaseFencedError(`the lease of node ${node} ended at ${until} and could not be extended`);
  }

  /** Makes `#id` the id of these fields, for `next()` to count on from. */
  #aim(tick: number, node: number, sequence: number): void {
    this.#id[0] = this.#layout.pack(tick, node, 0);
    this.#base = this.#halves[LOW] as number;
    if (this.#isLow) this.#halves[LOW] = this.#base | (sequence << this.#shift);
    else this.#id[0] = this.#layout.pack(tick, node, sequence);
  }

  #write(
    target: BigUint64Array | BigInt64Array,
    at: number,
    base: bigint,
    sequence: number,
    count: number,
  ): void {
    const halves = new Uint32Array(target.buffer, target.byteOffset + 8 * at, 2 * count);
    const shift = this.#shift;
    const low = Number(BigInt.asUintN(32, base)) | 0;
    const high = Number(base >> 32n);
    for (let i = 0; i < count; i++) {
      halves[2 * i + LOW] = low | ((sequence + i) << shift);
      halves[2 * i + HIGH] = high;
    }
  }
}

function layoutOf({ layout = layouts.jflake }: FlakeOptions): Layout {
  if (layout instanceof Layout) return layout;
  refuse('layout', 'what defineLayout() gives', layout);
}
