import { type Clock, systemClock } from '../clock.js';
import { InvalidOptionError } from '../errors.js';
import type { Lease } from '../lease/lease.js';
import { requireNamespace } from '../lease/namespace.js';
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
  readonly namespace?: string | undefined;
  readonly clock?: Clock | undefined;
  readonly timer?: unknown | undefined;
  readonly onWait?: ((wait: NodeWait) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The ways of a family's pool to its store. */
interface PoolRules<T, Options> {
  readonly family: LeaseStatus['family'];
  /** @param name the name that the caller has given; `undefined` without one */
  readonly acquire: (namespace: string, options: Options, name: string | undefined) => Promise<Leased<T>>;
  /** Rejects if the ids of a namespace with the text of the name could be repeated. */
  readonly checkName: (name: string, namespace: string) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** A generator that is open or is being opened. */
interface Entry<T> {
  readonly namespace: string;
  readonly instance: string;
  /** The names that callers use the generator by. */
  readonly names: Set<string>;
  readonly options: object;
  readonly clock: Clock;
  readonly opening: SharedOpening<Leased<T>>;
  /** The wait of the acquisition, if it waits. */
  wait?: MissingLease['wait'];
  /** The error of the acquisition, if it has failed. */
  error?: unknown;
}

/** A generator under one of its names. */
interface NamedUse<T> {
  readonly entry: Entry<T>;
  readonly checked: Promise<void>;
}

/**
 * The generators of one family. All names share the generators: calls with the same namespace, instance and options get the same one, so that
 * a process holds one node id for all of them.
 */
export class LeasedPool<T, Options extends PoolOptions> {
  readonly #rules: PoolRules<T, Options>;
  readonly #names: OpenObjects<NamedUse<T>>;
  readonly #entries = new Set<Entry<T>>();
  /** The openings under way, even those that their callers have given up. */
  readonly #pending = new Set<SharedOpening<Leased<T>>>();
  /** The generators whose last acquisition has failed. */
  readonly #failed = new Set<Entry<T>>();

  constructor(rules: PoolRules<T, Options>) {
    this.#rules = rules;
    this.#names = new OpenObjects<NamedUse<T>>({
      kind: `the ${rules.family} generator`,
      shownName: (key) => JSON.parse(key).name,
      otherwise: 'another name',
      isOpen: ({ entry }) => isOpen(entry),
      isSame,
    });
  }

  /** The leases that were asked for and are not there. */
  get missing(): MissingLease[] {
    const { family } = this.#rules;
    const opening = [...this.#entries].filter((entry) => isOpen(entry) && entry.opening.value === undefined);
    const failed = [...this.#failed].filter((entry) => !opening.some((each) => isAgain(each, entry)));
    const before = (entry: Entry<T>) => [...this.#failed].find((each) => isAgain(entry, each));
    return [...failed, ...opening].map((entry) => {
      const { wait } = entry;
      const { error } = entry.error === undefined ? (before(entry) ?? entry) : entry;
      return {
        family,
        ...shown(entry),
        ...(error !== undefined && { error }),
        ...(wait && entry.error === undefined && { wait }),
      };
    });
  }

  /** True if the name has such a generator, or will have one soon. */
  has(name: string, instance = ''): boolean {
    return this.#names.has(keyOf(name, instance));
  }

  /**
   * The generator of the name: always the same until its lease is released. Callers at the same time share one acquisition.
   *
   * @param name `undefined` for the generator that has exactly these options
   * @throws InvalidOptionError when an option differs from the one that the generator of the name was made with
   */
  async get(name: string | undefined, namespace: string, options: Options): Promise<T> {
    const { signal, instance = '', ...kept } = options;
    if (typeof instance !== 'string') refuse('instance', 'text', instance);
    if (typeof (options.onWait ?? warnOfWait) !== 'function') refuse('onWait', 'a function', options.onWait);
    requireNamespace(namespace);
    requireSignal(signal)?.throwIfAborted();
    const find = () => this.#find(name, namespace, instance, kept as Options);
    if (name === undefined) return (await find().opening.get(signal)).generator;
    const key = keyOf(requireNamespace(name, 'name'), instance);
    const use = this.#names.get(key, kept, () => {
      const entry = find();
      entry.names.add(name);
      return { entry, checked: this.#rules.checkName(name, namespace) };
    });
    use.checked.catch(() => this.#names.delete(key, use));
    const { generator } = await use.entry.opening.get(signal);
    await use.checked;
    return generator;
  }

  /** The leases of generators that are open. */
  status(): LeaseStatus[] {
    return [...this.#entries].flatMap((entry) => {
      const lease = entry.opening.value?.lease;
      if (lease === undefined || lease.state === 'released') return [];
      const { id: node, state, until } = lease;
      const left = Math.max(0, until - entry.clock.now());
      return [{ family: this.#rules.family, ...shown(entry), node, state, until, left }];
    });
  }

  /** Releases every lease, and ends every acquisition with the reason. Resolves with the outcome for each. */
  close(reason: unknown): Promise<PromiseSettledResult<void>[]> {
    const openings = new Set([...this.#pending, ...[...this.#entries].map(({ opening }) => opening)]);
    this.#names.clear();
    this.#entries.clear();
    this.#failed.clear();
    return Promise.allSettled(
      [...openings].map(async (opening) => (await opening.end(reason))?.lease.release()),
    );
  }

  /** The generator with exactly these options. If none is open, it is opened. */
  #find(name: string | undefined, namespace: string, instance: string, options: Options): Entry<T> {
    for (const entry of this.#entries) {
      if (!isOpen(entry)) this.#entries.delete(entry);
      else if (isAlike(entry, { namespace, instance, options })) return entry;
    }
    const entry = this.#open(name, namespace, instance, options);
    this.#entries.add(entry);
    return entry;
  }

  #open(name: string | undefined, namespace: string, instance: string, options: Options): Entry<T> {
    const { clock = systemClock, timer } = options;
    const { onWait = timer === undefined ? warnOfWait : () => undefined } = options;
    const opening = new SharedOpening<Leased<T>>(
      async (signal) => {
        const noteWait = (wait: NodeWait) => {
          entry.wait = { ...wait, until: clock.now() + wait.ms };
          onWait(wait);
        };
        const leased = await this.#rules.acquire(namespace, { ...options, onWait: noteWait, signal }, name);
        leased.lease.on('renewal-failed', this.#rules.onError);
        this.#forgetFailure(entry);
        return leased;
      },
      // If this fails, the lease expires.
      ({ lease }) => lease.release().catch(() => undefined),
    );
    this.#pending.add(opening);
    opening.onSettled(() => this.#pending.delete(opening));
    const entry: Entry<T> = { namespace, instance, names: new Set(), options, clock, opening };
    opening.onFailure((error) => {
      this.#entries.delete(entry);
      if (opening.isEnded) return;
      entry.error = error;
      this.#rules.onError(error);
      // A wrong option is a mistake of one caller, and says nothing about the others.
      if (error instanceof InvalidOptionError && !(error instanceof NamespaceRefusal)) return;
      this.#forgetFailure(entry);
      this.#failed.add(entry);
    });
    return entry;
  }

  #forgetFailure(entry: Entry<T>): void {
    for (const failed of this.#failed) if (isAgain(entry, failed)) this.#failed.delete(failed);
  }
}

/** The same text for the same name, and never for another. */
const keyOf = (name: string, instance: string) => JSON.stringify({ name, instance });

/** The parts of a generator that people see. */
const shown = ({ namespace, instance, names }: Pick<Entry<unknown>, 'namespace' | 'instance' | 'names'>) => ({
  namespace,
  instance,
  names: [...names],
});

/** False once the generator was closed, or its opening has failed or was ended. */
function isOpen<T>({ opening, error }: Entry<T>): boolean {
  return error === undefined && !opening.isEnded && opening.value?.lease.state !== 'released';
}

type Identity = Pick<Entry<unknown>, 'namespace' | 'instance' | 'options'>;

/** True if one generator can serve both. */
function isAlike(a: Identity, b: Identity): boolean {
  if (a.namespace !== b.namespace || a.instance !== b.instance) return false;
  const [x, y] = [a.options, b.options] as Record<string, unknown>[];
  return Object.keys({ ...x, ...y }).every((name) => name === 'namespace' || isSame(x?.[name], y?.[name]));
}

/** True if one is another attempt at the other. */
function isAgain<T>(a: Entry<T>, b: Entry<T>): boolean {
  return isAlike(a, b) || (a.instance === b.instance && [...a.names].some((name) => b.names.has(name)));
}

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
