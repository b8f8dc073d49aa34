import { type Clock, systemClock } from '../clock.js';
import { InvalidOptionError } from '../errors.js';
import type { Lease } from '../lease/lease.js';
import { NamespaceRefusal } from '../lease/namespace-store.js';
import { type NodeWait, warnOfWait } from '../lease/node-wait.js';
import { refuse } from '../options.js';
import { onAbort, requireSignal } from '../support/abort.js';
import { OpenObjects } from '../support/open-objects.js';
import type { LeaseStatus, MissingLease } from './options.js';

/** A generator, and the lease that drives it. */
export interface Leased<T> {
  readonly generator: T;
  readonly lease: Lease;
}

/** The options that a pool uses itself. */
interface PoolOptions {
  readonly instance?: string | undefined;
  readonly clock?: Clock | undefined;
  readonly timer?: unknown | undefined;
  readonly onWait?: ((wait: NodeWait) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A generator that is open or is being opened. */
interface Entry<T> {
  readonly name: Name;
  readonly clock: Clock;
  readonly opening: SharedOpening<Leased<T>>;
  /** The wait of the acquisition, if it waits. */
  wait?: MissingLease['wait'];
}

/** The name of a generator within its family. */
type Name = Pick<LeaseStatus, 'namespace' | 'instance'>;

/** The generators of one family, one for each namespace and instance. */
export class LeasedPool<T, Options extends PoolOptions> {
  readonly #family: LeaseStatus['family'];
  readonly #acquire: (namespace: string, options: Options) => Promise<Leased<T>>;
  readonly #onError: (error: unknown) => void;
  readonly #entries = new OpenObjects<Entry<T>>({
    kind: 'namespace',
    shownName: (key) => JSON.parse(key).namespace,
    otherwise: 'another namespace',
    isOpen: ({ opening }) => !opening.isEnded && opening.value?.lease.state !== 'released',
    isSame,
  });
  /** The openings under way, even those that their callers have given up. */
  readonly #pending = new Set<SharedOpening<Leased<T>>>();
  /** The leases whose last acquisition has failed, with its error. */
  readonly #failed = new Map<string, MissingLease>();

  constructor(
    family: LeaseStatus['family'],
    acquire: (namespace: string, options: Options) => Promise<Leased<T>>,
    onError: (error: unknown) => void,
  ) {
    this.#family = family;
    this.#acquire = acquire;
    this.#onError = onError;
  }

  /** The leases that were asked for and are not there. */
  get missing(): MissingLease[] {
    const missing = new Map(this.#failed);
    for (const { name, opening, wait } of this.#entries.all) {
      const before = this.#failed.get(keyOf(name));
      if (opening.value === undefined)
        missing.set(keyOf(name), { family: this.#family, ...name, ...before, ...(wait && { wait }) });
    }
    return [...missing.values()];
  }

  /** True if the namespace has such a generator, or will have one soon. */
  has(namespace: string, instance = ''): boolean {
    return this.#entries.has(keyOf({ namespace, instance }));
  }

  /**
   * The generator of the namespace: always the same until its lease is released. Callers at the same time share one acquisition.
   *
   * @throws InvalidOptionError when an option differs from the one that the generator was made with
   */
  async get(namespace: string, options: Options): Promise<T> {
    const { signal, instance = '', ...kept } = options;
    if (typeof instance !== 'string') refuse('instance', 'text', instance);
    if (typeof (options.onWait ?? warnOfWait) !== 'function') refuse('onWait', 'a function', options.onWait);
    requireSignal(signal)?.throwIfAborted();
    const name = { namespace, instance };
    const entry = this.#entries.get(keyOf(name), kept, () => this.#open(name, kept as Options));
    return (await entry.opening.get(signal)).generator;
  }

  /** The leases of generators that are open. */
  status(): LeaseStatus[] {
    return this.#entries.all.flatMap(({ name, clock, opening }) => {
      const lease = opening.value?.lease;
      if (lease === undefined || lease.state === 'released') return [];
      const { id: node, state, until } = lease;
      const left = Math.max(0, until - clock.now());
      return [{ family: this.#family, ...name, node, state, until, left }];
    });
  }

  /** Releases every lease, and ends every acquisition with the reason. Resolves with the outcome for each. */
  close(reason: unknown): Promise<PromiseSettledResult<void>[]> {
    const openings = new Set([...this.#pending, ...this.#entries.all.map(({ opening }) => opening)]);
    this.#entries.clear();
    this.#failed.clear();
    return Promise.allSettled(
      [...openings].map(async (opening) => (await opening.end(reason))?.lease.release()),
    );
  }

  #open(name: Name, options: Options): Entry<T> {
    const { clock = systemClock, timer } = options;
    const { onWait = timer === undefined ? warnOfWait : () => undefined } = options;
    const key = keyOf(name);
    const opening = new SharedOpening<Leased<T>>(
      async (signal) => {
        const noteWait = (wait: NodeWait) => {
          entry.wait = { ...wait, until: clock.now() + wait.ms };
          onWait(wait);
        };
        const leased = await this.#acquire(name.namespace, { ...options, onWait: noteWait, signal });
        leased.lease.on('renewal-failed', this.#onError);
        this.#failed.delete(key);
        return leased;
      },
      // If this fails, the lease expires.
      ({ lease }) => lease.release().catch(() => undefined),
    );
    this.#pending.add(opening);
    opening.onSettled(() => this.#pending.delete(opening));
    const entry: Entry<T> = { name, clock, opening };
    opening.onFailure((error) => {
      this.#entries.delete(key, entry);
      if (opening.isEnded) return;
      this.#onError(error);
      // A wrong option is a mistake of one caller, and says nothing about the others.
      const isMistake = error instanceof InvalidOptionError && !(error instanceof NamespaceRefusal);
      if (!isMistake) this.#failed.set(key, { family: this.#family, ...name, error });
    });
    return entry;
  }
}

/** The same text for the same name, and never for another. */
const keyOf = ({ namespace, instance }: Name) => JSON.stringify({ namespace, instance });

/** True if both are the same, layouts that make the same ids, or equal ranges of node ids. */
function isSame(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((each, i) => each === b[i]);
  const fingerprint = (value: unknown) => (value as { fingerprint?: string } | undefined)?.fingerprint;
  return a === b || (fingerprint(a) !== undefined && fingerprint(a) === fingerprint(b));
}

/** Something that is being opened for callers who wait for it. */
class SharedOpening<T> {
  /** The opened value; `undefined` until it is there. */
  value: T | undefined;
  readonly #promise: Promise<T>;
  readonly #controller = new AbortController();
  #callers = 0;

  /** @param undo gives back a value that came after the end of the opening */
  constructor(open: (signal: AbortSignal) => Promise<T>, undo: (value: T) => Promise<void>) {
    const { signal } = this.#controller;
    this.#promise = open(signal).then(async (value) => {
      if (signal.aborted) {
        await undo(value);
        throw signal.reason;
      }
      this.value = value;
      return value;
    });
  }

  /** True when the opening was ended early. */
  get isEnded(): boolean {
    return this.#controller.signal.aborted;
  }

  /** Calls `fn` with the error if the opening fails. */
  onFailure(fn: (error: unknown) => void): void {
    this.#promise.catch(fn);
  }

  /** Calls `fn` when the opening has succeeded or failed. */
  onSettled(fn: () => void): void {
    this.#promise.then(fn, fn);
  }

  /** Ends the opening. Resolves with the value if it was there before, with `undefined` if not. */
  async end(reason: unknown): Promise<T | undefined> {
    this.#controller.abort(reason);
    return this.#promise.catch(() => undefined);
  }

  /**
   * The value, for one more caller. When the last caller who waits is aborted, the opening ends.
   *
   * @throws the reason of the signal when it is aborted
   */
  get(signal: AbortSignal | undefined): Promise<T> {
    this.#callers++;
    return new Promise((resolve, reject) => {
      const cancel = onAbort(signal, (reason) => {
        // The end of the opening settles the promise of the last caller, so that nothing is held then.
        if (--this.#callers === 0 && this.value === undefined) this.#controller.abort(reason);
        else reject(reason);
      });
      this.#promise.then(resolve, reject).finally(cancel);
    });
  }
}
