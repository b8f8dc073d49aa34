import { warn } from '#runtime';
import { type Clock, systemClock, wholeMs } from '../clock.js';
import { InvalidOptionError, TimeExhaustedError, UnsafeIntegerError } from '../errors.js';
import type { Lease } from '../lease/lease.js';
import type { LeaseStore } from '../lease/port.js';
import { type LeaseWait, requireWait } from '../lease/waiters.js';
import { bindLease, generatorClosed, type LeaseWindow } from '../lease/window.js';
import { refuse, requireChoice, requireInteger, requireKnown, requireMethod } from '../options.js';
import { Claims } from './claims.js';
import { fixedNodeState } from './fixed-node.js';
import { defineLayout, Layout } from './layout.js';
import { layouts } from './layouts.js';
import { type LeasedFlakeOptions, leaseFor } from './leased.js';
import type { FlakeOptions, SharedFlake } from './options.js';
import type { FlakeRules } from './pace.js';
import { handleOf, requireHandle, requireShareable } from './shared-handle.js';
import { SharedState } from './shared-state.js';
import { LOWER_HALF, OwnState } from './state.js';
import { TickSlot } from './tick-table.js';
import { endingWith, nextWhenActive } from './waiting.js';

const YEAR = 365 * 86_400_000;
/** The largest batch. More ids in one array would take over a gigabyte. */
const MAX_BATCH = 2 ** 24;
// Constants of this module, because an imported constant is looked up at each use, which makes `fill()` half as fast.
const LOW = LOWER_HALF;
const HIGH = 1 - LOW;
const OPTIONS = ['layout', 'node', 'clock', 'onFull', 'onClockBack', 'maxBackward'];

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
  readonly #rules: FlakeRules;
  readonly #claims: Claims;
  readonly #maxSequence: number;
  readonly #shift: number;
  /** True if the sequence lies within the lower 32 bits. Then ids of a tick differ in these bits alone. */
  readonly #isLow: boolean;
  /** The state, if no other thread shares it. Then the next id of a tick needs nothing else. */
  #own: OwnState | undefined;
  #handle: SharedFlake | undefined;
  #ownsLease = false;
  /** Aborted by {@link close}. */
  readonly #closing = new AbortController();
  /** The lease that drives the generator; `undefined` with a fixed node, and in a generator from {@link attach}. */
  readonly lease: Lease | undefined;

  /**
   * @throws InvalidOptionError naming the first option that is wrong
   * @throws TimeExhaustedError when the layout's time has run out
   */
  constructor(options: FlakeOptions);
  /** @internal */
  constructor(options: { clock?: Clock }, handle: SharedFlake);
  constructor(options: FlakeOptions | { clock?: Clock }, handle?: SharedFlake) {
    requireKnown('options', options, handle ? ['clock'] : OPTIONS);
    const given = (handle ?? options) as FlakeOptions;
    const { maxBackward = 10_000 } = given;
    this.#layout = handle ? defineLayout(handle.layout) : layoutOf(options as FlakeOptions);
    this.#clock = requireMethod('clock', 'now', options.clock, systemClock);
    this.#rules = {
      onFull: requireChoice('onFull', given.onFull, ['wait', 'borrow']),
      onClockBack: requireChoice('onClockBack', given.onClockBack, ['hold', 'throw']),
      maxBackward: requireInteger('maxBackward', maxBackward, 0, YEAR),
    };
    const { shift, bits } = this.#layout.fields.sequence;
    this.#maxSequence = this.#layout.max('sequence');
    this.#shift = shift;
    this.#isLow = shift + bits <= 32;
    this.#checkExpiry();
    this.#handle = handle;
    this.#own = handle ? undefined : this.#ownState((options as FlakeOptions).node);
    const state = this.#own ?? attachedState(handle as SharedFlake, bits);
    this.#claims = new Claims(this.#layout, this.#clock, this.#rules, state);
    if (!handle) this.#bind((options as FlakeOptions).node);
    const { node } = options as FlakeOptions;
    this.lease = typeof node === 'object' ? node : undefined;
  }

  /**
   * Makes a generator on a lease of its own, which `close()` releases. The number of node ids comes from the layout.
   *
   * @throws LeasesExhaustedError when all node ids are held, or none can be used within `waitFor`
   * @throws InvalidOptionError naming the first option that is wrong; also when the namespace has another layout
   * @throws ClockError when this clock and the store's differ by more than `maxSkew`
   * @throws StoreError when the store fails
   *
   * @example
   * const ids = await FlakeGenerator.lease(store, { namespace: 'orders' });
   */
  static lease(store: LeaseStore, options: LeasedFlakeOptions): Promise<FlakeGenerator> {
    return leaseFor(store, options, (flakeOptions) => {
      const generator = new FlakeGenerator(flakeOptions);
      generator.#ownsLease = true;
      return generator;
    });
  }

  /**
   * The next id.
   *
   * @throws ClockError when the clock gives no time, stands still in a full tick, or stepped back further than allowed
   * @throws LeaseFencedError when the lease's window has ended
   * @throws ClosedError when the generator was closed or its lease released
   * @throws TimeExhaustedError when the layout's time has run out
   */
  next(): bigint {
    // The first step, because the clock may be code that mints with this very generator.
    const reading = this.#clock.now();
    const own = this.#own;
    if (own !== undefined && reading === own.reading && own.sequence < this.#maxSequence) {
      own.halves[LOW] = own.base | (++own.sequence << this.#shift);
      return own.id[0] as bigint;
    }
    const claim = this.#claims.take(1, reading);
    const id = this.#layout.pack(claim.tick, claim.node, claim.sequence);
    if (this.#isLow) this.#own?.aim(id, claim.sequence << this.#shift, claim.reading);
    return id;
  }

  /**
   * The next id. Waits for the lease where {@link next} throws a `LeaseFencedError`.
   *
   * @throws ClosedError when the generator was closed or its lease released, also meanwhile
   * @throws the reason of `signal` when it is aborted; other errors as {@link next} does
   */
  async nextAsync(options: { signal?: AbortSignal } = {}): Promise<bigint> {
    return nextWhenActive(this, options, this.#closing.signal);
  }

  /** Resolves when the lease is active, at once with a fixed node. Throws the same errors as `lease.whenActive`. */
  async ready(options: LeaseWait = {}): Promise<void> {
    requireWait(options).signal?.throwIfAborted();
    this.#claims.requireOpen();
    await this.lease?.whenActive(endingWith(options, this.#closing.signal));
  }

  /**
   * Ends this generator: from now on it throws a `ClosedError`. Idempotent.
   *
   * The lease is released if {@link FlakeGenerator.lease} acquired it. A lease that the caller gave stays as it is, but nobody
   * mints with it any more, in any thread. A generator from {@link attach}, or with a fixed node, ends alone.
   *
   * @throws StoreError when the store fails; minting has ended, and the lease expires
   */
  async close(): Promise<void> {
    this.#claims.isClosed = true;
    this.#own = undefined;
    if (!this.#closing.signal.aborted) this.#closing.abort(generatorClosed());
    if (this.#ownsLease) await this.lease?.release();
    else if (this.lease) this.#claims.state.close();
  }

  /** The same as {@link close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** The next id in decimal digits, for JSON. Throws the same errors as {@link next}. */
  nextString(): string {
    return this.next().toString();
  }

  /**
   * The next id as a number.
   *
   * @throws UnsafeIntegerError when the layout has more than 53 bits. No id is used up.
   */
  nextNumber(): number {
    if (this.#layout.bits > 53) {
      throw new UnsafeIntegerError(
        `ids of ${this.#layout.bits} bits do not fit a JavaScript number; use next() or nextString()`,
      );
    }
    return Number(this.next());
  }

  /**
   * The next `count` ids, faster than one by one. `batch(0)` is an empty array.
   *
   * @throws InvalidOptionError unless `count` is a whole number from 0 to 2^24
   */
  batch(count: number): bigint[] {
    requireInteger('count', count, 0, MAX_BATCH);
    const ids = new BigUint64Array(count);
    this.fill(ids);
    return Array.from(ids);
  }

  /**
   * Fills `target` with ids, and returns their number.
   *
   * @throws InvalidOptionError when `target` is not an array of 64-bit integers
   */
  fill(target: BigUint64Array | BigInt64Array): number {
    if (!(target instanceof BigUint64Array || target instanceof BigInt64Array)) {
      refuse('target', 'a BigUint64Array or BigInt64Array', target);
    }
    this.#claims.requireOpen();
    for (let done = 0; done < target.length; ) {
      const { tick, node, sequence, count } = this.#claims.take(target.length - done, this.#clock.now());
      if (this.#isLow) this.#write(target, done, this.#layout.pack(tick, node, 0), sequence, count);
      else for (let i = 0; i < count; i++) target[done + i] = this.#layout.pack(tick, node, sequence + i);
      done += count;
    }
    return target.length;
  }

  /**
   * Moves the state into shared memory and returns a handle for {@link attach} in worker threads.
   *
   * @throws InvalidOptionError when the runtime has no `SharedArrayBuffer`, or time and sequence of the layout have more
   *   than 62 bits
   * @throws ClosedError when the generator was closed or its lease released
   */
  share(): SharedFlake {
    this.#claims.requireOpen();
    if (this.#handle) return this.#handle;
    requireShareable(this.#layout);
    const own = this.#own as OwnState;
    const turns = own.slot?.newGroup();
    const state = SharedState.from(own, this.#layout.fields.sequence.bits, turns && TickSlot.attach(turns));
    // Other generators of the same node may continue with the old state, but not in the same tick.
    own.leaveTick();
    this.#claims.state = state;
    this.#own = undefined;
    this.#handle = handleOf(state.buffer, this.#layout, this.#rules, turns);
    return this.#handle;
  }

  /**
   * Makes a generator that shares the state of the generator whose `share()` returned the handle, in any thread.
   *
   * @throws InvalidOptionError when the handle is not from `share()`, or has unknown names
   */
  static attach(handle: SharedFlake, options: { clock?: Clock } = {}): FlakeGenerator {
    return new FlakeGenerator(options, requireHandle(handle));
  }

  #checkExpiry(): void {
    const { expires } = this.#layout;
    const left = expires.getTime() - wholeMs(this.#clock.now());
    const when = expires.toISOString();
    if (left <= 0)
      throw new TimeExhaustedError(`the layout's time field ended at ${when}; use another layout`);
    if (left < YEAR) warn(`the layout's time field ends at ${when}`, 'TIME_EXHAUSTED');
  }

  #ownState(node: FlakeOptions['node']): OwnState {
    if (typeof node === 'object' && node !== null) return new OwnState(this.#maxSequence);
    requireInteger('node', node, 0, this.#layout.max('node'));
    if (this.#rules.onFull === 'borrow') {
      throw new InvalidOptionError(
        `onFull 'borrow' needs a lease as node, not ${node}: after a restart a fixed node could repeat borrowed ids; use 'wait', or a lease from acquireLease()`,
      );
    }
    return fixedNodeState(this.#layout, node, this.#clock);
  }

  /** Binds the lease, and follows its windows. */
  #bind(node: FlakeOptions['node']): void {
    if (typeof node === 'number') return;
    if (typeof node[bindLease] !== 'function') refuse('node', 'a node id or a lease', node);
    const nodes = this.#layout.max('node') + 1;
    const move = (window: LeaseWindow) => {
      // Checked before any change, so that the present window ends as planned if the new node id does not fit.
      requireInteger("the lease's node", window.node, 0, nodes - 1);
      const { epoch, tick } = this.#layout;
      this.#claims.state.move(window, Math.ceil((window.from - epoch) / tick));
    };
    const close = () => {
      const tick = this.#claims.state.close();
      return tick < 0 ? -1 : this.#layout.timeOf(tick);
    };
    move(node[bindLease]({ nodes, layout: this.#layout.fingerprint, move, close }));
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
  refuse('layout', 'a layout from defineLayout()', layout);
}

function attachedState({ state, turns }: SharedFlake, sequenceBits: number): SharedState {
  return new SharedState(state, sequenceBits, turns && TickSlot.attach(turns));
}
