import { ClosedError, NoSuchSequenceError } from '../errors.js';
import { FlakeGenerator } from '../flake/generator.js';
import { layouts } from '../flake/layouts.js';
import { LEASED_FLAKE_NAMES } from '../flake/leased.js';
import { acquireLease } from '../lease/acquire-lease.js';
import type { Lease } from '../lease/lease.js';
import { LocalityGenerator } from '../locality/generator.js';
import { requireKnown } from '../options.js';
import type { Sequence } from '../sequence/sequence.js';
import { Sequences } from '../sequence/sequences.js';
import { OpenSeries } from '../series/open-series.js';
import type { SeriesOptions } from '../series/options.js';
import type { Series } from '../series/series.js';
import type { Store } from '../stores/store.js';
import { requireSignal, unlessAborted } from '../support/abort.js';
import { Uuid7Generator } from '../uuid7/generator.js';
import { LEASED_NODES } from '../uuid7/layout.js';
import { type Leased, LeasedPool } from './leased-pool.js';
import type {
  FlakesOptions,
  IdsStatus,
  LeasedLocalityOptions,
  LeasedUuid7Options,
  SequenceOpening,
} from './options.js';

/** The number of node ids of a locality namespace. */
const LOCALITY_NODES = 65_536;
const FLAKE_NAMES = LEASED_FLAKE_NAMES.filter((name) => name !== 'namespace');
const LOCALITY_NAMES = ['mode', 'reversal', 'window', 'format', 'reseed', 'flavour', 'counter'];
const SHARED_NAMES = ['clock', 'random'];
const SEQUENCE_NAMES = ['define', 'prefetch', 'source', 'implementation', 'signal'];
const LEASE_NAMES = [
  'ttl',
  'label',
  'maxSkew',
  'waitFor',
  'maxIdle',
  'reacquire',
  'timer',
  'onWait',
  'signal',
];

/** Everything that makes ids on one store. Get one with `connect`, and close it when the program ends. */
export class Ids {
  readonly store: Store;
  readonly sequences: Sequences;
  readonly #label: string;
  readonly #ownsStore: boolean;
  readonly #flakes: LeasedPool<FlakeGenerator, FlakesOptions>;
  readonly #localities: LeasedPool<LocalityGenerator, LeasedLocalityOptions>;
  readonly #uuid7s: LeasedPool<Uuid7Generator, LeasedUuid7Options>;
  readonly #series: OpenSeries;
  /** The generator of UUIDs without a lease. */
  #uuid7: Uuid7Generator | undefined;
  /** The generators of UUIDs without a lease that have a clock or a random source of their own. */
  #ownUuid7s: WeakRef<Uuid7Generator>[] = [];
  #lastError: unknown;
  #closing: Promise<void> | undefined;

  /** @internal */
  constructor(store: Store, { label, ownsStore }: { label: string; ownsStore: boolean }) {
    this.store = store;
    this.sequences = new Sequences(store);
    this.#series = new OpenSeries({ store, sequences: this.sequences });
    this.#label = label;
    this.#ownsStore = ownsStore;
    const onError = (error: unknown) => {
      if (this.#closing === undefined) this.#lastError = error;
    };
    this.#flakes = new LeasedPool('flake', (...use) => this.#openFlakes(...use), onError);
    this.#localities = new LeasedPool('locality', (...use) => this.#openLocality(...use), onError);
    this.#uuid7s = new LeasedPool('uuid7', (...use) => this.#openUuid7(...use), onError);
  }

  /**
   * The flake generator of a namespace, on a lease: always the same object until it is closed.
   *
   * @throws InvalidOptionError when an option is wrong, or the namespace has another layout
   * @throws ClosedError after `close()`; other errors as `FlakeGenerator.lease` throws
   */
  async flakes(namespace: string, options: FlakesOptions = {}): Promise<FlakeGenerator> {
    this.#requireOpen();
    requireKnown('options', options, FLAKE_NAMES);
    if (this.#flakes.has(namespace)) return this.#flakes.get(namespace, options);
    return this.#flakes.get(namespace, { ...options, layout: options.layout ?? layouts.jflake });
  }

  /**
   * The locality generator of a namespace, with its node from a lease: always the same object until it is closed.
   *
   * @throws InvalidOptionError when an option is wrong, or differs from the one that the generator was made with
   * @throws ClosedError after `close()`; other errors as `acquireLease` throws
   */
  async locality(namespace: string, options: LeasedLocalityOptions = {}): Promise<LocalityGenerator> {
    this.#requireOpen();
    requireKnown('options', options, [...LOCALITY_NAMES, ...SHARED_NAMES, ...LEASE_NAMES]);
    return this.#localities.get(namespace, options);
  }

  /**
   * The generator of UUIDs of version 7 of a namespace, with its node from a lease: always the same object until it is
   * closed. Without a namespace, the generator has no lease.
   *
   * @throws InvalidOptionError when an option is wrong, or differs from the one that the generator was made with
   * @throws ClosedError after `close()`; other errors as `acquireLease` throws
   */
  async uuid7(namespace?: string, options: LeasedUuid7Options = {}): Promise<Uuid7Generator> {
    this.#requireOpen();
    requireKnown('options', options, [...SHARED_NAMES, ...(namespace === undefined ? [] : LEASE_NAMES)]);
    if (namespace !== undefined) return this.#uuid7s.get(namespace, options);
    // A generator with a clock or a random source of its own is for its caller alone.
    if (options.clock !== undefined || options.random !== undefined) {
      const own = new Uuid7Generator(options);
      this.#ownUuid7s = this.#ownUuid7s.filter((each) => each.deref()?.isClosed === false);
      this.#ownUuid7s.push(new WeakRef(own));
      return own;
    }
    if (this.#uuid7 === undefined || this.#uuid7.isClosed) this.#uuid7 = new Uuid7Generator();
    return this.#uuid7;
  }

  /**
   * The sequence of a name: always the same object until it is closed. With `define`, a missing sequence is defined first.
   *
   * @throws NoSuchSequenceError when the sequence is missing and `define` is left out
   * @throws SequenceExistsError when the sequence exists with another definition than `define`
   * @throws ClosedError after `close()`; the reason of `signal` when it is aborted
   */
  async sequence(name: string, options: SequenceOpening = {}): Promise<Sequence> {
    this.#requireOpen();
    const { define, signal, ...use } = requireKnown('options', options, SEQUENCE_NAMES);
    requireSignal(signal)?.throwIfAborted();
    if (define !== undefined) await unlessAborted(this.sequences.ensure(name, define), signal);
    this.#requireOpen();
    try {
      return await unlessAborted(this.sequences.get(name, use), signal);
    } catch (error) {
      if (!(error instanceof NoSuchSequenceError)) throw error;
      throw new NoSuchSequenceError(`${error.message}: give define, for example { define: { start: 1 } }`, {
        cause: error,
      });
    }
  }

  /**
   * The series of a name: always the same object until it is closed. The first call makes what the series needs in the store.
   *
   * @throws InvalidOptionError when an option is wrong, differs from the one that the series is open with, or the store keeps another
   * format for the series
   * @throws ClosedError after `close()`
   */
  async series(name: string, options: SeriesOptions): Promise<Series> {
    this.#requireOpen();
    const opened = this.#series.get(name, options);
    await opened.ready();
    this.#requireOpen();
    return opened;
  }

  /** The state of leases and sequences, for a readiness probe. Asks nobody, and works after `close()`. */
  status(): IdsStatus {
    const pools = [this.#flakes, this.#localities, this.#uuid7s];
    const leases = pools.flatMap((pool) => pool.status());
    const isLacking = pools.some((pool) => pool.isLacking);
    return {
      ready: !this.#closing && !isLacking && leases.every(({ state }) => state === 'active'),
      leases,
      sequences: this.sequences.status(),
      ...(this.#lastError !== undefined && { lastError: this.#lastError }),
    };
  }

  /**
   * Closes everything that was handed out, releases the leases, then closes the store if `connect` opened it. Idempotent.
   *
   * @throws StoreError when the store fails; everything is closed all the same, and leases expire
   */
  close(): Promise<void> {
    this.#closing ??= this.#closeOnce();
    return this.#closing;
  }

  /** The same as {@link close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #closeOnce(): Promise<void> {
    const reason = closedError();
    const outcomes = await Promise.all([
      this.#flakes.close(reason),
      this.#localities.close(reason),
      this.#uuid7s.close(reason),
      Promise.allSettled(
        [this.#uuid7, ...this.#ownUuid7s.map((own) => own.deref())].map((each) => each?.close()),
      ),
      Promise.allSettled([this.#series.close().then(() => this.sequences.close())]),
    ]);
    if (this.#ownsStore) await this.store.close();
    for (const outcome of outcomes.flat()) if (outcome.status === 'rejected') throw outcome.reason;
  }

  async #openFlakes(namespace: string, options: FlakesOptions): Promise<Leased<FlakeGenerator>> {
    const label = options.label ?? this.#label;
    const generator = await FlakeGenerator.lease(this.store, { ...options, label, namespace });
    return { generator, lease: generator.lease as Lease };
  }

  #openLocality(namespace: string, options: LeasedLocalityOptions): Promise<Leased<LocalityGenerator>> {
    const own = only(options, [...LOCALITY_NAMES, ...SHARED_NAMES]);
    return this.#openLeased(namespace, options, LOCALITY_NODES, (lease) =>
      LocalityGenerator.owning(lease, own),
    );
  }

  #openUuid7(namespace: string, options: LeasedUuid7Options): Promise<Leased<Uuid7Generator>> {
    const own = only(options, SHARED_NAMES);
    return this.#openLeased(namespace, options, LEASED_NODES, (lease) => Uuid7Generator.owning(lease, own));
  }

  async #openLeased<T>(
    namespace: string,
    options: LeasedUuid7Options,
    size: number,
    make: (lease: Lease) => T,
  ): Promise<Leased<T>> {
    const ofLease = only(options, [...LEASE_NAMES, ...SHARED_NAMES]);
    const lease = await acquireLease(this.store, { label: this.#label, ...ofLease, namespace, size });
    try {
      return { generator: make(lease), lease };
    } catch (error) {
      // If this fails, the lease expires.
      await lease.release().catch(() => undefined);
      throw error;
    }
  }

  #requireOpen(): void {
    if (this.#closing) throw closedError();
  }
}

const closedError = () => new ClosedError('these ids are closed: call connect() again');

/** The options of these names that are given. */
function only<T extends object>(options: T, names: readonly string[]): Partial<T> {
  const given = Object.entries(options).filter(
    ([name, value]) => names.includes(name) && value !== undefined,
  );
  return Object.fromEntries(given) as Partial<T>;
}
