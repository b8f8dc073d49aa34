import { type Clock, systemClock } from '../clock.js';
import { InvalidOptionError } from '../errors.js';
import type { Lease } from '../lease/lease.js';
import { NamespaceRefusal } from '../lease/namespace-refusal.js';
import { show } from '../options.js';
import { requireSignal } from '../support/abort.js';
import type { LeaseStatus } from './options.js';
import { SharedOpening } from './shared-opening.js';

/** A generator, and the lease that drives it. */
export interface Leased<T> {
  readonly generator: T;
  readonly lease: Lease;
}

/** The options that a pool compares and uses itself. */
interface PoolOptions {
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

interface Entry<T> {
  readonly options: PoolOptions;
  readonly opening: SharedOpening<Leased<T>>;
}

/** The generators of one family, one for each namespace. */
export class LeasedPool<T, Options extends PoolOptions> {
  readonly #family: LeaseStatus['family'];
  readonly #open: (namespace: string, options: Options) => Promise<Leased<T>>;
  readonly #onError: (error: unknown) => void;
  readonly #entries = new Map<string, Entry<T>>();
  /** The openings under way, also those that their callers have given up. */
  readonly #pending = new Set<SharedOpening<Leased<T>>>();
  /** The namespaces whose last acquisition has failed. */
  readonly #failed = new Set<string>();

  constructor(
    family: LeaseStatus['family'],
    open: (namespace: string, options: Options) => Promise<Leased<T>>,
    onError: (error: unknown) => void,
  ) {
    this.#family = family;
    this.#open = open;
    this.#onError = onError;
  }

  /** True while a lease that was asked for is not there: it is being acquired, or the last attempt has failed. */
  get isLacking(): boolean {
    const isOpening = [...this.#entries.values()].some(({ opening }) => opening.value === undefined);
    return isOpening || this.#failed.size > 0;
  }

  /** True if the namespace has a generator, or will have one soon. */
  has(namespace: string): boolean {
    return this.#find(namespace) !== undefined;
  }

  /**
   * The generator of the namespace: always the same until its lease is released. Callers at the same time share one acquisition.
   *
   * @throws InvalidOptionError when an option differs from the one that the generator was made with
   */
  async get(namespace: string, options: Options): Promise<T> {
    const { signal, ...kept } = options;
    requireSignal(signal)?.throwIfAborted();
    let entry = this.#find(namespace);
    if (entry) requireSameOptions(namespace, entry.options, kept);
    else entry = this.#add(namespace, kept as Options);
    return (await entry.opening.get(signal)).generator;
  }

  /** The leases of generators that are open. */
  status(): LeaseStatus[] {
    return [...this.#entries.values()].flatMap(({ options, opening }) => {
      const lease = opening.value?.lease;
      if (lease === undefined || lease.state === 'released') return [];
      const { namespace, id: node, state, until } = lease;
      const left = Math.max(0, until - (options.clock ?? systemClock).now());
      return [{ family: this.#family, namespace, node, state, until, left }];
    });
  }

  /** Releases every lease, and ends every acquisition with the reason. Resolves with the outcome for each. */
  close(reason: unknown): Promise<PromiseSettledResult<void>[]> {
    const openings = new Set([
      ...this.#pending,
      ...[...this.#entries.values()].map(({ opening }) => opening),
    ]);
    this.#entries.clear();
    this.#failed.clear();
    return Promise.allSettled(
      [...openings].map(async (opening) => (await opening.end(reason))?.lease.release()),
    );
  }

  #find(namespace: string): Entry<T> | undefined {
    const entry = this.#entries.get(namespace);
    const isGone = entry?.opening.isEnded || entry?.opening.value?.lease.state === 'released';
    return isGone ? undefined : entry;
  }

  #add(namespace: string, options: Options): Entry<T> {
    const opening = new SharedOpening<Leased<T>>(
      async (signal) => {
        const leased = await this.#open(namespace, { ...options, signal });
        leased.lease.on('renewal-failed', this.#onError);
        this.#failed.delete(namespace);
        return leased;
      },
      // If this fails, the lease expires.
      ({ lease }) => lease.release().catch(() => undefined),
    );
    this.#pending.add(opening);
    opening.onSettled(() => this.#pending.delete(opening));
    const entry = { options, opening };
    this.#entries.set(namespace, entry);
    opening.onFailure((error) => {
      if (this.#entries.get(namespace) === entry) this.#entries.delete(namespace);
      if (opening.isEnded) return;
      this.#onError(error);
      // A wrong option is a mistake of one caller, and says nothing about the others.
      const isMistake = error instanceof InvalidOptionError && !(error instanceof NamespaceRefusal);
      if (!isMistake) this.#failed.add(namespace);
    });
    return entry;
  }
}

/** @throws InvalidOptionError when an option is given and differs */
function requireSameOptions(namespace: string, open: object, given: object): void {
  const before = new Map(Object.entries(open));
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || isSame(before.get(name), value)) continue;
    throw new InvalidOptionError(
      `namespace ${show(namespace)} is open with another ${name}: use the same options, or another namespace`,
    );
  }
}

/** True if both are the same, or layouts that make the same ids. */
function isSame(a: unknown, b: unknown): boolean {
  const fingerprint = (value: unknown) => (value as { fingerprint?: string } | undefined)?.fingerprint;
  return a === b || (fingerprint(a) !== undefined && fingerprint(a) === fingerprint(b));
}
