import { warn } from '#runtime';
import { type Clock, systemClock, wholeMs } from '../clock.js';
import { InvalidOptionError, LeaseFencedError, TimeExhaustedError, UnsafeIntegerError } from '../errors.js';
import type { Lease } from '../lease/lease.js';
import type { LeaseStore } from '../lease/port.js';
import { type LeaseWait, requireWait } from '../lease/waiters.js';
import { bindLease, generatorClosed, type LeaseWindow } from '../lease/window.js';
import {
  type IdForm,
  type IdForms,
  refuse,
  requireChoice,
  requireForm,
  requireInteger,
  requireKnown,
  requireMethod,
} from '../options.js';
import { requireThreads } from '../support/shared-memory.js';
import { Claims, type FlakeState, fixedNodeState, LOWER_HALF, OwnState } from './claims.js';
import { defineLayout, type Layout, requireLayout } from './layout.js';
import { jflake } from './layouts.js';
import type { FlakeOptions, LeasedFlakeOptions, SharedFlake } from './options.js';
import type { FlakeRules } from './pace.js';

const YEAR = 365 * 86_400_000;
/** The largest batch. More ids in one array would take over a gigabyte. */
const MAX_BATCH = 2 ** 24;
// Constants of this module, because an imported constant is looked up at each use, which makes `fill()` half as fast.
const LOW = LOWER_HALF;
const HIGH = 1 - LOW;
const OPTIONS = ['layout', 'node', 'clock', 'onFull', 'onClockBack', 'maxBackward', 'as'];

/**
 * Makes flakes: 64-bit ids that sort by time. Ids of one generator strictly increase.
 *
 * @example
 * const ids = new FlakeGenerator({ node: 3 });
 * ids.next(); // 1703865194431643648n
 * new FlakeGenerator({ node: 3, as: 'string' }).next(); // '1703865194431643648'
 */
export class FlakeGenerator<F extends IdForm = 'bigint'> {
  readonly #layout: Layout;
  readonly #clock: Clock;
  readonly #rules: FlakeRules;
  readonly #claims: Claims;
  readonly #maxSequence: number;
  readonly #shift: number;
  /** True if the sequence lies within the lower 32 bits. Then ids of a tick differ in these bits alone. */
  readonly #isLow: boolean;
  readonly #as: F;
  /** Gives an id the type that `as` asks for; `undefined` for bigint, which an id is anyway. */
  readonly #toForm: ((id: bigint) => IdForms[F]) | undefined;
  /** The state, if no other thread shares it. Then the next id of a tick needs nothing else. */
  #own: OwnState | undefined;
  #handle: SharedFlake<F> | undefined;
  #ownsLease = false;
  /**
   * Aborted by {@link close}. Made by the first call that waits: some runtimes allow no controller while modules load.
   */
  #closing: AbortController | undefined;
  /** The lease that drives the generator; `undefined` with a fixed node, and in a generator from {@link attach}. */
  readonly lease: Lease | undefined;

  /**
   * @throws InvalidOptionError naming the first option that is wrong
   * @throws TimeExhaustedError when the layout's time has run out
   */
  constructor(options: FlakeOptions<F>);
  /** @internal */
  constructor(options: { clock?: Clock | undefined }, handle: SharedFlake<F>);
  constructor(options: FlakeOptions<F> | { clock?: Clock | undefined }, handle?: SharedFlake<F>) {
    if (options === undefined)
      throw new InvalidOptionError(
        'node is missing: give a node id that no other process uses, as in new FlakeGenerator({ node: 3 }), or let a store give one: (await connect(url)).flakes()',
      );
    requireKnown('options', options, handle ? ['clock'] : OPTIONS);
    const given = (handle ?? options) as FlakeOptions<F>;
    const { maxBackward = 10_000, layout = jflake } = given;
    this.#layout = handle ? defineLayout(handle.layout) : requireLayout(layout);
    this.#as = requireForm(given.as);
    this.#toForm = formOf(this.#as, this.#layout);
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
    this.#own = handle ? undefined : this.#ownState((options as FlakeOptions<F>).node);
    const state = this.#own ?? requireThreads(threads).attach(handle as SharedFlake<F>, bits);
    this.#claims = new Claims(this.#layout, this.#clock, this.#rules, state);
    if (!handle) this.#bind((options as FlakeOptions<F>).node);
    const { node } = options as FlakeOptions<F>;
    this.lease = typeof node === 'object' ? node : undefined;
  }

  /**
   * The same as `leaseFlakes(store, options)`. Prefer `leaseFlakes` in code that is bundled: a bundler leaves the lease protocol out unless
   * the program imports `leaseFlakes`, so that a generator with a fixed node stays small.
   *
   * @throws InvalidOptionError when a bundler has left the lease protocol out; other errors as `leaseFlakes` does
   *
   * @example
   * const ids = await FlakeGenerator.lease(store, { namespace: 'orders' });
   */
  static async lease<F extends IdForm = 'bigint'>(
    store: LeaseStore,
    options: LeasedFlakeOptions<F>,
  ): Promise<FlakeGenerator<F>> {
    if (leasing === undefined)
      throw new InvalidOptionError(
        'FlakeGenerator.lease is not in this bundle: import leaseFlakes of idsmith, and call leaseFlakes(store, options)',
      );
    return leasing(store, options);
  }

  /** Makes a generator whose `close()` also releases its lease. @internal */
  static owning<F extends IdForm>(lease: Lease, options: Omit<FlakeOptions<F>, 'node'>): FlakeGenerator<F> {
    const generator = new FlakeGenerator({ ...options, node: lease });
    generator.#ownsLease = true;
    return generator;
  }

  /**
   * The next id, in the type that `as` asks for.
   *
   * @throws ClockError when the clock gives no time, stands still in a full tick, or stepped back further than allowed
   * @throws LeaseFencedError when the lease's window has ended
   * @throws ClosedError when the generator was closed or its lease released
   * @throws TimeExhaustedError when the layout's time has run out
   */
  next(): IdForms[F] {
    const id = this.#mint();
    return this.#toForm === undefined ? (id as IdForms[F]) : this.#toForm(id);
  }

  #mint(): bigint {
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
  async nextAsync(options: { signal?: AbortSignal | undefined } = {}): Promise<IdForms[F]> {
    requireKnown('options', options, ['signal']);
    const { signal } = requireWait(options);
    const { lease } = this;
    for (;;) {
      signal?.throwIfAborted();
      try {
        return this.next();
      } catch (error) {
        if (lease === undefined || !(error instanceof LeaseFencedError)) throw error;
      }
      const wait = endingWith(options, this.#closingSignal());
      // The generator may be ahead of the lease's clock. Then only the next window helps.
      if (lease.state === 'active') await lease.whenMoved(wait);
      else await lease.whenActive(wait);
    }
  }

  /** Resolves when the lease is active, at once with a fixed node. Throws the same errors as `lease.whenActive`. */
  async ready(options: LeaseWait = {}): Promise<void> {
    requireWait(options).signal?.throwIfAborted();
    this.#claims.requireOpen();
    await this.lease?.whenActive(endingWith(options, this.#closingSignal()));
  }

  /**
   * Ends this generator: from now on it throws a `ClosedError`. Idempotent.
   *
   * The lease is released if `leaseFlakes` or {@link FlakeGenerator.lease} acquired it. A lease that the caller gave stays as it is, but nobody
   * mints with it any more, in any thread. A generator from {@link attach}, or with a fixed node, ends alone.
   *
   * @throws StoreError when the store fails; minting has ended, and the lease expires
   */
  async close(): Promise<void> {
    this.#claims.isClosed = true;
    this.#own = undefined;
    this.#closing?.abort(generatorClosed());
    if (this.#ownsLease) await this.lease?.release();
    else if (this.lease) this.#claims.state.close();
  }

  /** The same as {@link close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** The next id in decimal digits, for JSON. Throws the same errors as {@link next}. */
  nextString(): string {
    return this.#mint().toString();
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
    return Number(this.#mint());
  }

  /**
   * The next `count` ids, faster than one by one. `batch(0)` is an empty array.
   *
   * @throws InvalidOptionError unless `count` is a whole number from 0 to 2^24
   */
  batch(count: number): IdForms[F][] {
    requireInteger('count', count, 0, MAX_BATCH);
    const ids = new BigUint64Array(count);
    this.fill(ids);
    const toForm = this.#toForm;
    return toForm === undefined ? (Array.from(ids) as IdForms[F][]) : Array.from(ids, (id) => toForm(id));
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
   * Moves the state into shared memory and returns a handle for {@link attach} in worker threads. A program that is bundled
   * calls `enableThreads()` before.
   *
   * @throws InvalidOptionError when the runtime has no `SharedArrayBuffer`, or time and sequence of the layout have more
   *   than 62 bits
   * @throws ClosedError when the generator was closed or its lease released
   */
  share(): SharedFlake<F> {
    this.#claims.requireOpen();
    if (this.#handle) return this.#handle;
    const own = this.#own as OwnState;
    const { state, handle } = requireThreads(threads).share(own, this.#layout);
    // Other generators of the same node may continue with the old state, but not in the same tick.
    own.leaveTick();
    this.#claims.state = state;
    this.#own = undefined;
    this.#handle = { ...handle, ...this.#rules, as: this.#as };
    return this.#handle;
  }

  /**
   * Makes a generator that shares the state of the generator whose `share()` returned the handle, in any thread. Its ids have the
   * same type.
   *
   * @throws InvalidOptionError when the handle is not from `share()`, or has unknown names
   */
  static attach<F extends IdForm = 'bigint'>(
    handle: SharedFlake<F>,
    options: { clock?: Clock | undefined } = {},
  ): FlakeGenerator<F> {
    return new FlakeGenerator(options, requireThreads(threads).requireHandle(handle));
  }

  #closingSignal(): AbortSignal {
    this.#closing ??= new AbortController();
    return this.#closing.signal;
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

type LeaseFlakes = <F extends IdForm = 'bigint'>(
  store: LeaseStore,
  options: LeasedFlakeOptions<F>,
) => Promise<FlakeGenerator<F>>;

let leasing: LeaseFlakes | undefined;

/** Gives {@link FlakeGenerator.lease} its work. The class does not import it, or each bundle with the class would carry leases. */
export function provideLeasing(lease: LeaseFlakes): LeaseFlakes {
  leasing = lease;
  return lease;
}

/** The code behind {@link FlakeGenerator.share} and {@link FlakeGenerator.attach}. */
export interface FlakeThreads {
  /**
   * Makes shared memory that continues from a state.
   *
   * @throws InvalidOptionError when the runtime or the layout does not allow it
   */
  share(
    own: OwnState,
    layout: Layout,
  ): { state: FlakeState; handle: Pick<SharedFlake, 'state' | 'layout' | 'turns'> };
  /**
   * Checks a handle, which may have come from anywhere.
   *
   * @throws InvalidOptionError when the handle is not from `share()`, or has a name that it does not know
   */
  requireHandle<F extends IdForm>(handle: SharedFlake<F>): SharedFlake<F>;
  /** The state of a handle. */
  attach(handle: Pick<SharedFlake, 'state' | 'turns'>, sequenceBits: number): FlakeState;
}

let threads: FlakeThreads | undefined;

/** Gives `share()` and `attach()` their code. */
export function provideFlakeThreads(code: FlakeThreads): FlakeThreads {
  threads = code;
  return code;
}

/**
 * The function that gives ids this form, if they need one.
 *
 * @throws InvalidOptionError when ids of the layout may not be exact in this form
 */
function formOf<F extends IdForm>(as: F, { bits }: Layout): ((id: bigint) => IdForms[F]) | undefined {
  if (as === 'number' && bits > 53)
    throw new InvalidOptionError(
      `as 'number' needs a layout of at most 53 bits, not ${bits}: use layouts.safe53 or layouts.seconds53, or as 'string'`,
    );
  const forms: Record<IdForm, ((id: bigint) => unknown) | undefined> = {
    bigint: undefined,
    string: String,
    number: Number,
  };
  return forms[as] as ((id: bigint) => IdForms[F]) | undefined;
}

/** The options of a wait that also ends with the generator. */
function endingWith(options: LeaseWait, closing: AbortSignal): LeaseWait {
  const { signal } = options;
  return { ...options, signal: signal === undefined ? closing : AbortSignal.any([signal, closing]) };
}
