import { processLabel } from '#runtime';
import { ClosedError, hasCode, InvalidOptionError, NoSuchSequenceError, StoreError } from '../errors.js';
import type { FlakeGenerator } from '../flake/generator.js';
import { requireLayout } from '../flake/layout.js';
import { layouts, poolOf } from '../flake/layouts.js';
import { acquireLease, type Lease } from '../lease/lease.js';
import { requireLabel } from '../lease/options.js';
import type { LocalityGenerator } from '../locality/generator.js';
import { type IdForm, refuse, requireChoice, requireForm, requireKnown, show } from '../options.js';
import type { Sequence } from '../sequence/sequence.js';
import { Sequences } from '../sequence/sequences.js';
import type { Series, SeriesOptions } from '../series/series.js';
import type { Store } from '../stores/store.js';
import { requireSignal, unlessAborted } from '../support/abort.js';
import { OpenObjects } from '../support/open-objects.js';
import type { Uuid7Generator } from '../uuid7/generator.js';
import { LEASED_NODES } from '../uuid7/layout.js';
import { type Leased, LeasedPool } from './leased-pool.js';
import type {
  ConnectOptions,
  FlakesOptions,
  IdsStatus,
  LeasedLocalityOptions,
  LeasedUuid7Options,
  SequenceOpening,
} from './options.js';

/** The number of node ids of a locality namespace. */
const LOCALITY_NODES = 65_536;
const LOCALITY_NAMES = ['mode', 'reversal', 'window', 'format', 'reseed', 'counter'];
const SHARED_NAMES = ['clock', 'random'];
const SEQUENCE_NAMES = [
  'define',
  'prefetch',
  'source',
  'implementation',
  'unlockedNeighbours',
  'as',
  'signal',
];
const ACQUISITION_NAMES = [
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
const LEASE_NAMES = ['namespace', 'instance', ...ACQUISITION_NAMES];
const FLAKE_NAMES = ['layout', 'onFull', 'onClockBack', 'maxBackward', 'as', 'nodes'];

/**
 * Connects to a store, and returns the generators and sequences of that store.
 *
 * @param target the URL of a store, as for `openStore`, or a store. A store that the caller opened stays open after `close()`.
 * @throws InvalidOptionError when the URL or an option is wrong
 * @throws StoreError when the driver is not installed, or a file cannot be opened
 * @throws the reason of `signal` when it is aborted
 *
 * @example
 * const ids = await connect('sqlite:./ids.db');
 * const orders = await ids.flakes('orders');
 * orders.next(); // 1703865194431643648n
 */
export async function connect(target: string | Store, options: ConnectOptions = {}): Promise<Ids> {
  requireKnown('options', options, ['signal', 'label', 'shared']);
  const label = requireLabel(options.label ?? processLabel());
  const signal = requireSignal(options.signal);
  const isShared = requireChoice('shared', options.shared, [false, true]);
  signal?.throwIfAborted();
  if (typeof target !== 'string') {
    const store = requireStore(target);
    if (isShared)
      refuse('shared', 'left out with a store of your own, which you can share yourself', isShared);
    return new Ids(store, { label, ownsStore: false });
  }
  const open = async () => {
    const { openStore } = await import('../stores/open.js');
    return new Ids(await openStore(target), { label, ownsStore: true, url: target });
  };
  if (isShared) return unlessAborted(sharedConnection(target, options.label, open), signal);
  const opening = open();
  try {
    return await unlessAborted(opening, signal);
  } catch (error) {
    // A store that opens after the signal has no user.
    opening.then((ids) => ids.close()).catch(() => undefined);
    throw error;
  }
}

/** The generators, sequences and series of one store. Get one with `connect`, and close it when the program ends. */
export class Ids {
  readonly store: Store;
  readonly sequences: Sequences;
  readonly #label: string;
  readonly #ownsStore: boolean;
  /** The URL of the store, for messages. */
  readonly #url: string | undefined;
  #initialised: Promise<void> | undefined;
  readonly #flakes: LeasedPool<FlakeGenerator<IdForm>, FlakesOptions<IdForm>>;
  readonly #localities: LeasedPool<LocalityGenerator, LeasedLocalityOptions>;
  readonly #uuid7s: LeasedPool<Uuid7Generator, LeasedUuid7Options>;
  readonly #series = new OpenObjects<Series>({
    kind: 'series',
    otherwise: 'close it first',
    isOpen: (series) => !series.isClosed,
  });
  /** The generator of UUIDs without a lease. */
  #uuid7: Uuid7Generator | undefined;
  /** The generators of UUIDs without a lease that have a clock or a random source of their own. */
  #ownUuid7s: WeakRef<Uuid7Generator>[] = [];
  #lastError: unknown;
  #closing: Promise<void> | undefined;

  /** @internal */
  constructor(store: Store, { label, ownsStore, url }: { label: string; ownsStore: boolean; url?: string }) {
    this.store = store;
    this.#url = url;
    this.#ownsStore = ownsStore;
    this.sequences = new Sequences(store);
    this.#label = label;
    const onError = (error: unknown) => {
      if (this.#closing === undefined) this.#lastError = error;
    };
    const checkName = (name: string, namespace: string) => this.#checkName(name, namespace);
    this.#flakes = new LeasedPool({
      family: 'flake',
      acquire: (...use) => this.#openFlakes(...use),
      checkName,
      onError,
    });
    this.#localities = new LeasedPool({
      family: 'locality',
      acquire: (...use) => this.#openLocality(...use),
      checkName,
      onError,
    });
    this.#uuid7s = new LeasedPool({
      family: 'uuid7',
      acquire: (...use) => this.#openUuid7(...use),
      checkName,
      onError,
    });
  }

  /**
   * The flake generator of a name, on a lease: always the same object until it is closed. All flakes of a store with one layout come from one
   * pool of node ids, and never repeat each other. Names with the same options share one node id and one generator. With another `namespace`,
   * the pool is another one, whose ids may be equal to these.
   *
   * @throws InvalidOptionError when an option is wrong, or differs from the one that the generator of the name was made with
   * @throws ClosedError after `close()`; other errors as `leaseFlakes` throws
   *
   * @example
   * const orders = await ids.flakes('orders');
   * const any = await ids.flakes(); // the same generator
   */
  flakes<F extends IdForm = 'bigint'>(options?: FlakesOptions<F>): Promise<FlakeGenerator<F>>;
  flakes<F extends IdForm = 'bigint'>(
    name: string | undefined,
    options?: FlakesOptions<F>,
  ): Promise<FlakeGenerator<F>>;
  async flakes<F extends IdForm = 'bigint'>(
    ...args: NamedArguments<FlakesOptions<F>>
  ): Promise<FlakeGenerator<F>> {
    this.#requireOpen();
    const [name, options] = nameAndOptions(args, [...FLAKE_NAMES, ...SHARED_NAMES, ...LEASE_NAMES]);
    // The type of ids is compared even where it is left out: the caller expects the default then.
    const given = { ...options, as: requireForm(options.as) };
    const isOpen = name !== undefined && this.#flakes.has(name, options.instance);
    const layout = requireLayout(options.layout ?? layouts.jflake);
    const use = isOpen ? given : { ...given, layout };
    return this.#flakes.get(name, options.namespace ?? poolOf(layout), use) as Promise<FlakeGenerator<F>>;
  }

  /**
   * The locality generator of a name, with its node from a lease: always the same object until it is closed. Names with the same options
   * share one. All come from one pool of node ids unless `namespace` names another.
   *
   * @throws InvalidOptionError when an option is wrong, or differs from the one that the generator of the name was made with
   * @throws ClosedError after `close()`; other errors as `acquireLease` throws
   */
  locality(options?: LeasedLocalityOptions): Promise<LocalityGenerator>;
  locality(name: string | undefined, options?: LeasedLocalityOptions): Promise<LocalityGenerator>;
  async locality(...args: NamedArguments<LeasedLocalityOptions>): Promise<LocalityGenerator> {
    this.#requireOpen();
    const [name, options] = nameAndOptions(args, [...LOCALITY_NAMES, ...SHARED_NAMES, ...LEASE_NAMES]);
    return this.#localities.get(name, options.namespace ?? 'locality', options);
  }

  /**
   * The generator of UUIDs of version 7 of a name, with its node from a lease: always the same object until it is closed. Names with the same
   * options share one. All come from one pool of node ids unless `namespace` names another. Without a name and a namespace, the generator has
   * no lease.
   *
   * @throws InvalidOptionError when an option is wrong, or differs from the one that the generator of the name was made with
   * @throws ClosedError after `close()`; other errors as `acquireLease` throws
   */
  uuid7(options?: LeasedUuid7Options): Promise<Uuid7Generator>;
  uuid7(name: string | undefined, options?: LeasedUuid7Options): Promise<Uuid7Generator>;
  async uuid7(...args: NamedArguments<LeasedUuid7Options>): Promise<Uuid7Generator> {
    this.#requireOpen();
    const [name, options] = nameAndOptions(args, [...SHARED_NAMES, ...LEASE_NAMES]);
    if (name !== undefined || options.namespace !== undefined)
      return this.#uuid7s.get(name, options.namespace ?? 'uuid7', options);
    requireKnown('options', options, ['namespace', ...SHARED_NAMES]);
    const { Uuid7Generator } = await import('../uuid7/generator.js');
    this.#requireOpen();
    // A generator with a clock or a random source of its own is for its caller alone.
    if (options.clock !== undefined || options.random !== undefined) {
      const own = new Uuid7Generator(only(options, SHARED_NAMES));
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
   * @throws SequenceExistsError when the sequence exists and could break what `define` promises, as `Sequences.ensure` does
   * @throws ClosedError after `close()`; the reason of `signal` when it is aborted
   */
  async sequence<F extends IdForm = 'bigint'>(
    name: string,
    options: SequenceOpening<F> = {},
  ): Promise<Sequence<F>> {
    this.#requireOpen();
    const { define, signal, ...use } = requireKnown('options', options, SEQUENCE_NAMES);
    requireSignal(signal)?.throwIfAborted();
    if (define !== undefined) await unlessAborted(this.#requireInitialised(), signal);
    if (define !== undefined) await unlessAborted(this.sequences.ensure(name, define), signal);
    this.#requireOpen();
    try {
      return await unlessAborted(this.sequences.get(name, use), signal);
    } catch (error) {
      if (!hasCode(error, 'NO_SUCH_SEQUENCE')) throw error;
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
  async series<const O extends SeriesOptions>(name: string, options: O): Promise<Series<O>> {
    this.#requireOpen();
    const { checkSeries, Series } = await loadSeries();
    this.#requireOpen();
    const { store, sequences } = this;
    const checked = checkSeries(name, options);
    const opened = this.#series.get(name, checked.options, () => new Series(checked, { store, sequences }));
    await opened.ready();
    this.#requireOpen();
    return opened as Series<O>;
  }

  /** The state of leases and sequences, for a readiness probe. Does not ask the store, and works after `close()`. */
  status(): IdsStatus {
    const pools = [this.#flakes, this.#localities, this.#uuid7s];
    const leases = pools.flatMap((pool) => pool.status());
    const missing = pools.flatMap((pool) => pool.missing);
    return {
      ready: !this.#closing && missing.length === 0 && leases.every(({ state }) => state === 'active'),
      leases,
      missing,
      sequences: this.sequences.status(),
      durable: this.store.durable ?? true,
      ...(this.store.lineage !== undefined && { lineage: this.store.lineage }),
      warnings: this.store.warnings?.() ?? [],
      ...(this.#lastError !== undefined && { lastError: this.#lastError }),
    };
  }

  /** True from the call of {@link close} on. */
  get isClosed(): boolean {
    return this.#closing !== undefined;
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
      Promise.allSettled([this.#closeSequences()]),
    ]);
    if (this.#ownsStore) await this.store.close();
    for (const outcome of outcomes.flat()) if (outcome.status === 'rejected') throw outcome.reason;
  }

  /** Closes the series first: they give numbers back through their sequences. */
  async #closeSequences(): Promise<void> {
    await Promise.all(this.#series.all.map((series) => series.close()));
    await this.sequences.close();
  }

  async #openFlakes(
    namespace: string,
    options: FlakesOptions<IdForm>,
    name: string | undefined,
  ): Promise<Leased<FlakeGenerator<IdForm>>> {
    const label = options.label ?? this.#labelFor(name);
    await this.#requireInitialised();
    const { leaseFlakes } = await import('../flake/leased.js');
    const generator = await leaseFlakes(this.store, { ...options, label, namespace });
    return { generator, lease: generator.lease as Lease };
  }

  async #openLocality(
    namespace: string,
    options: LeasedLocalityOptions,
    name: string | undefined,
  ): Promise<Leased<LocalityGenerator>> {
    const { LocalityGenerator } = await import('../locality/generator.js');
    const own = only(options, [...LOCALITY_NAMES, ...SHARED_NAMES]);
    return this.#openLeased(namespace, options, name, LOCALITY_NODES, (lease) =>
      LocalityGenerator.owning(lease, own),
    );
  }

  async #openUuid7(
    namespace: string,
    options: LeasedUuid7Options,
    name: string | undefined,
  ): Promise<Leased<Uuid7Generator>> {
    const { Uuid7Generator } = await import('../uuid7/generator.js');
    const own = only(options, SHARED_NAMES);
    return this.#openLeased(namespace, options, name, LEASED_NODES, (lease) =>
      Uuid7Generator.owning(lease, own),
    );
  }

  async #openLeased<T>(
    namespace: string,
    options: LeasedUuid7Options,
    name: string | undefined,
    size: number,
    make: (lease: Lease) => T,
  ): Promise<Leased<T>> {
    await this.#requireInitialised();
    const ofLease = only(options, [...ACQUISITION_NAMES, ...SHARED_NAMES]);
    const lease = await acquireLease(this.store, {
      label: this.#labelFor(name),
      ...ofLease,
      namespace,
      size,
    });
    try {
      return { generator: make(lease), lease };
    } catch (error) {
      // If this fails, the lease expires.
      await lease.release().catch(() => undefined);
      throw error;
    }
  }

  /**
   * Refuses a store that can forget and was never initialised, instead of a wait for leases that it may have forgotten.
   *
   * @throws StoreError with the command to run
   */
  #requireInitialised(): Promise<void> {
    const { store } = this;
    if (store.durable !== false || store.areNamesDoubted === undefined) return Promise.resolve();
    this.#initialised ??= store.areNamesDoubted().then((isBlank) => {
      if (!isBlank) return;
      const url = this.#url?.replace(/:\/\/[^/@]*@/, '://LOGIN@') ?? 'URL';
      throw new StoreError(
        `idsmith init was never run on this store, or it has lost its data. If it is new, run once: npx idsmith init --store ${url}. If it has ` +
          `lost data, run: npx idsmith restored --store ${url}`,
        { reason: 'NOT_INITIALISED' },
      );
    });
    this.#initialised.catch(() => {
      this.#initialised = undefined;
    });
    return this.#initialised;
  }

  /** The label of a lease, with the name that it was opened by. */
  #labelFor(name: string | undefined): string {
    const label = name === undefined ? this.#label : `${this.#label} ${name}`;
    return label.length <= 255 ? label : this.#label;
  }

  /**
   * Refuses a name that is also a namespace whose node ids are held: earlier releases took each name for a pool of its own, and ids of two
   * pools may be equal.
   */
  async #checkName(name: string, namespace: string): Promise<void> {
    if (name === namespace) return;
    const nodes = (await this.store.listLeases(name)).filter(({ id, owner }) => id >= 0 && owner !== null);
    if (nodes.length === 0) return;
    const now = (await this.store.now?.()) ?? Date.now();
    const held = nodes.filter(({ expiresAt }) => expiresAt > now);
    if (held.length === 0) return;
    const labels = [...new Set(held.map(({ label }) => label))].slice(0, 3).join(', ');
    throw new InvalidOptionError(
      `${show(name)} is also a namespace with ${held.length} held node ids (${labels}), and its ids may be equal to ids of the pool ` +
        `${show(namespace)}: stop these processes if they are of an earlier release, or give { namespace: ${show(name)} } as they do`,
    );
  }

  #requireOpen(): void {
    if (this.#closing) throw closedError();
  }
}

/** Series, loaded by those who use them: the SQL of every database comes with them. Once, so that all are of one class. */
const loadSeries = () => {
  loadedSeries ??= import('../series/series.js');
  return loadedSeries;
};
let loadedSeries: Promise<typeof import('../series/series.js')> | undefined;

const closedError = () => new ClosedError('these ids are closed: call connect() again');

/** A name and options, or either. */
type NamedArguments<Options> = [name?: string | Options | undefined, options?: Options | undefined];

/** @throws InvalidOptionError when an option has none of these names */
function nameAndOptions<Options extends object>(
  [first, second]: NamedArguments<Options>,
  names: readonly string[],
): [name: string | undefined, options: Options] {
  const isNamed = typeof first !== 'object' || first === null || second !== undefined;
  const options = (isNamed ? second : first) ?? ({} as Options);
  return [isNamed ? (first as string | undefined) : undefined, requireKnown('options', options, names)];
}

/** The options of these names that are given. */
function only<T extends object>(options: T, names: readonly string[]): Partial<T> {
  const given = Object.entries(options).filter(
    ([name, value]) => names.includes(name) && value !== undefined,
  );
  return Object.fromEntries(given) as Partial<T>;
}

function requireStore(store: Store): Store {
  const methods = ['listLeases', 'swapLease', 'allocate', 'defineSequence', 'describeSequence'] as const;
  if (methods.every((method) => typeof store?.[method] === 'function')) return store;
  const hint = store === undefined ? '. If it comes from an environment variable, set the variable' : '';
  throw new InvalidOptionError(
    `target must be the URL of a store, for example 'sqlite:./ids.db' or 'postgres://app@db/ids', or a store, not ${show(store)}${hint}`,
  );
}

const CONNECTIONS = Symbol.for('idsmith.connections');

/** The object that `connect` gives, as far as this file needs it. */
interface Closable {
  readonly isClosed: boolean;
}

/** A connection that is open or is being opened. */
interface Connection {
  object: Closable | undefined;
  readonly opening: Promise<Closable>;
}

/** The shared connections of this process, by URL. In the realm, because hot reload evaluates this module again. */
function connections(): OpenObjects<Connection> {
  const realm = globalThis as { [CONNECTIONS]?: OpenObjects<Connection> };
  realm[CONNECTIONS] ??= new OpenObjects<Connection>({
    kind: 'the shared connection',
    // A URL may have a password.
    shownName: (url) => `${url.slice(0, url.indexOf(':'))}:…`,
    otherwise: 'close it first',
    isOpen: ({ object }) => object?.isClosed !== true,
  });
  return realm[CONNECTIONS];
}

/**
 * The shared connection of a URL: always the same while it is open. An attempt that fails is forgotten.
 *
 * @throws InvalidOptionError when `label` differs from the one that the connection is open with
 */
function sharedConnection<T extends Closable>(
  url: string,
  label: string | undefined,
  open: () => Promise<T>,
): Promise<T> {
  const { opening } = connections().get(url, { label }, () => {
    const connection: Connection = { object: undefined, opening: open() };
    connection.opening.then(
      (object) => {
        connection.object = object;
      },
      () => connections().delete(url, connection),
    );
    return connection;
  });
  return opening as Promise<T>;
}
