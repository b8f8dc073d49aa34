import { systemClock } from '../clock.js';
import {
  ClosedError,
  hasCode,
  InvalidOptionError,
  SequenceExhaustedError,
  SequenceExistsError,
} from '../errors.js';
import {
  type IdForm,
  refuse,
  requireChoice,
  requireForm,
  requireKnown,
  requireMethod,
  show,
} from '../options.js';
import { OpenObjects } from '../support/open-objects.js';
import { systemTimer } from '../support/timer.js';
import { endOf, partOf } from './block.js';
import { DEFINABLE, defineRow, MAX_BLOCKS } from './blocks.js';
import { requireStoredName } from './name.js';
import type {
  BlockSource,
  SequenceChanges,
  SequenceDefinition,
  SequenceInfo,
  SequenceOptions,
  SequenceStore,
} from './port.js';
import { type Prefetch, prefetchPolicy } from './prefetch.js';
import { isSafe, Sequence, type SequenceStatus, type SequenceTime } from './sequence.js';

/** Options of `Sequences.get`. */
export interface SequenceUse<F extends IdForm = 'bigint'> {
  /** A source of blocks other than the store, for example `postgresSequence(…)`. */
  readonly source?: BlockSource | undefined;
  /** The name of a source that was registered with `register`, instead of a `source`. */
  readonly implementation?: string | undefined;
  /**
   * The number of blocks to keep ahead, from 0 to 1000. With 0, exactly one block is taken when it is needed. `'adaptive'`, the
   * default, keeps as many as the present rate needs.
   */
  readonly prefetch?: Prefetch | undefined;
  /**
   * True for a row of `id_sequences` that other programs use with a SELECT and an UPDATE and without a lock. The first block of each
   * allocation stays unused, because such a program may have read its beginning, and no id is given back. Every process of idsmith on the
   * row needs the option. Default `false`.
   */
  readonly unlockedNeighbours?: boolean | undefined;
  /**
   * The type of the ids: `'bigint'` (default), `'string'` (decimal digits, for JSON), or `'number'`, which needs a sequence that cannot
   * pass 2^53 − 1.
   */
  readonly as?: F | undefined;
}

/** The allocation of the store for one sequence, with the name of the sequence. Nothing is asked until blocks are allocated. */
export interface NamedSource extends BlockSource {
  readonly name: string;
}

/** Makes the source of blocks for a sequence: another one with its name, or one on top of the store's. */
export type MakeSource = (source: NamedSource) => BlockSource | Promise<BlockSource>;

/** One store for all sequences, or a `default` store and further stores by the names of sequences. */
export type SequenceStores = SequenceStore | { default: SequenceStore; [sequence: string]: SequenceStore };

/**
 * A factory of sequences: defines them in a store, and gives one {@link Sequence} for each name. After `close()`, every method
 * but `status` throws a `ClosedError`.
 *
 * @example
 * const sequences = new Sequences(await openStore('sqlite:./ids.db'));
 * await sequences.define('orders', { start: 10_000 });
 * const orders = await sequences.get('orders');
 * await orders.next(); // 10000n
 */
export class Sequences {
  readonly #default: SequenceStore;
  readonly #named: ReadonlyMap<string, SequenceStore>;
  readonly #time: SequenceTime;
  readonly #open = new OpenObjects<Promise<Sequence<IdForm>>>({
    kind: 'sequence',
    otherwise: 'close it first',
    isSame: isSameOption,
    defaults: { prefetch: 'adaptive', unlockedNeighbours: false },
  });
  /** Every sequence that was handed out and is not closed, even those whose name was removed. */
  readonly #handedOut = new Set<Sequence<IdForm>>();
  /** Ways to make sources, by their names. A name keeps its meaning: two modules cannot mean different sources. */
  readonly #implementations = new Map<string, MakeSource>();
  #closing: Promise<void> | undefined;

  /**
   * @param time sources of time, for tests
   * @throws InvalidOptionError when `stores` is neither a store nor an object with a store `default`
   */
  constructor(stores: SequenceStores, time: SequenceTime = {}) {
    requireKnown('time', time, ['clock', 'timer']);
    requireMethod('clock', 'now', time.clock, systemClock);
    requireMethod('timer', 'after', time.timer, systemTimer);
    this.#time = time;
    const { default: fallback, ...named } = isStore(stores) ? { default: stores } : (stores ?? {});
    for (const [name, store] of Object.entries({ ...named, default: fallback }))
      if (!isStore(store)) refuse(`the store of ${show(name)}`, 'a store of sequences', store);
    this.#default = fallback as SequenceStore;
    this.#named = new Map(Object.entries(named) as [string, SequenceStore][]);
  }

  /**
   * Defines a sequence.
   *
   * @throws SequenceExistsError when a sequence of that name exists
   * @throws StoreError when the store may have lost a sequence of that name
   * @throws InvalidOptionError naming the wrong option; nothing is defined
   */
  async define(name: string, options: Omit<SequenceDefinition, 'name'> = {}): Promise<SequenceInfo> {
    requireKnown('options', options, [...DEFINABLE, 'lost', 'notBefore']);
    const store = this.#storeOf(name);
    await store.defineSequence({ ...options, name });
    return store.describeSequence(name);
  }

  /**
   * Defines a sequence unless it exists, and leaves an existing one as it is. Any number of processes may call `ensure` at the same time.
   *
   * @throws SequenceExistsError showing what differs when the existing sequence could break what the options promise: another step or cycle, a
   * next number before `start`, numbers beyond `min` or `max`. Options that are left out count with their defaults
   * @throws InvalidOptionError naming the wrong option; nothing is defined
   */
  async ensure(name: string, options: SequenceOptions = {}): Promise<SequenceInfo> {
    requireKnown('options', options, DEFINABLE);
    const row = defineRow({ ...options, name }, 0);
    const wanted: Definition = { ...row, start: row.next };
    try {
      return requireKeptPromises(await this.describe(name), wanted);
    } catch (error) {
      if (!hasCode(error, 'NO_SUCH_SEQUENCE')) throw error;
    }
    try {
      return await this.define(name, options);
    } catch (error) {
      // Another process has defined the sequence meanwhile.
      if (!hasCode(error, 'SEQUENCE_EXISTS')) throw error;
      return requireKeptPromises(await this.describe(name), wanted);
    }
  }

  /**
   * Alters a sequence, even while it is used. Blocks that were taken before stay as they are.
   *
   * @throws NoSuchSequenceError when there is no sequence of that name
   * @throws InvalidOptionError naming the wrong change; nothing is altered
   */
  async alter(name: string, changes: SequenceChanges): Promise<SequenceInfo> {
    return this.#storeOf(name).alterSequence(name, changes);
  }

  /**
   * The definition and the state of a sequence.
   *
   * @throws NoSuchSequenceError when there is no sequence of that name
   */
  async describe(name: string): Promise<SequenceInfo> {
    return this.#storeOf(name).describeSequence(name);
  }

  /** All sequences, sorted by name. */
  async list(): Promise<SequenceInfo[]> {
    this.#requireOpen();
    const lists = [this.#default.listSequences(), ...[...this.#named.values()].map((s) => s.listSequences())];
    const [common = [], ...named] = await Promise.all(lists);
    const own = [...this.#named.keys()].flatMap(
      (name, i) => named[i]?.filter((info) => info.name === name) ?? [],
    );
    const all = [...common.filter((info) => !this.#named.has(info.name)), ...own];
    return all.sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /**
   * Removes a sequence. Processes that have a block hand it out to its end, and get a `NoSuchSequenceError` after it.
   *
   * @throws NoSuchSequenceError when there is no sequence of that name
   */
  async remove(name: string): Promise<void> {
    await this.#storeOf(name).removeSequence(name);
    this.#open.delete(name);
  }

  /**
   * Gives a way to make sources a name, for the option `implementation` of {@link get}. The function gets the store's own allocation
   * and the name of the sequence, once for each sequence that is opened.
   *
   * @example
   * sequences.register('oracle', ({ name }) => oracleSequence(connection, name));
   * const orders = await sequences.get('orders', { implementation: 'oracle' });
   *
   * @throws InvalidOptionError when the name is not text, is registered with another function, or `make` is no function
   */
  register(name: string, make: MakeSource): this {
    this.#requireOpen();
    if (typeof name !== 'string' || name === '') refuse('the name of an implementation', 'text', name);
    if (typeof make !== 'function') refuse(`the implementation ${show(name)}`, 'a function', make);
    if ((this.#implementations.get(name) ?? make) !== make)
      throw new InvalidOptionError(
        `the implementation ${show(name)} is registered with another function: use another name`,
      );
    this.#implementations.set(name, make);
    return this;
  }

  /**
   * The sequence of that name: always the same object until it is closed.
   *
   * @throws NoSuchSequenceError when it is not defined
   * @throws InvalidOptionError when an option is wrong, or differs from the option that the sequence is open with
   */
  async get<F extends IdForm = 'bigint'>(name: string, use: SequenceUse<F> = {}): Promise<Sequence<F>> {
    this.#requireOpen();
    requireStoredName(name);
    requireKnown('options', use, USABLE);
    prefetchPolicy(use.prefetch);
    const as = requireForm(use.as);
    const isBeside = requireChoice('unlockedNeighbours', use.unlockedNeighbours, [false, true]);
    if (isBeside && (use.source ?? use.implementation) !== undefined)
      throw new InvalidOptionError(
        `sequence ${show(name)}: unlockedNeighbours is for a row of id_sequences: leave out source and implementation`,
      );
    if (use.implementation !== undefined) {
      this.#makerOf(use.implementation);
      if (use.source !== undefined)
        throw new InvalidOptionError(`sequence ${show(name)}: give a source or an implementation, not both`);
    }
    // The type of ids is compared even where it is left out: the caller expects the default then.
    const opened = this.#open.get(name, { ...use, as }, () => {
      const opening = this.#make(name, { ...use, as }, () => this.#open.delete(name, opening));
      opening.catch(() => this.#open.delete(name, opening));
      return opening;
    });
    return opened as Promise<Sequence<F>>;
  }

  /** The ids at hand of every sequence that is open, for a readiness probe. Does not ask the store, and works after `close()`. */
  status(): SequenceStatus[] {
    return [...this.#handedOut].map((sequence) => sequence.status());
  }

  /** Closes every sequence that was handed out. The stores stay open. A second call does nothing. */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll();
    return this.#closing;
  }

  /** The same as {@link close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #closeAll(): Promise<void> {
    await Promise.all([...this.#handedOut].map((sequence) => sequence.close()));
  }

  async #make<F extends IdForm>(
    name: string,
    use: SequenceUse<F> & { readonly as: F },
    onClose: () => void,
  ): Promise<Sequence<F>> {
    const { source, implementation, prefetch, as, unlockedNeighbours } = use;
    const info = source === undefined && implementation === undefined ? await this.describe(name) : undefined;
    if (as === 'number') requireNumbers(name, info);
    const from =
      implementation !== undefined
        ? await this.#implementedSource(implementation, name)
        : source === undefined
          ? (unlockedNeighbours ? besideUnlocked : storeSource)(this.#storeOf(name), name)
          : requireMethod('source', 'allocate', source, source);
    this.#requireOpen();
    // Another program may have set the block size to 0. The first allocation refuses that, so it may still be corrected.
    const blockSize = info !== undefined && info.blockSize >= 1 ? info.blockSize : undefined;
    const policy = prefetchPolicy(prefetch, blockSize);
    const sequence = new Sequence<F>({ name, as, source: from, policy, time: this.#time }, () => {
      this.#handedOut.delete(sequence);
      onClose();
    });
    this.#handedOut.add(sequence);
    return sequence;
  }

  /** @throws InvalidOptionError when the function that was registered gives something that is no source */
  async #implementedSource(implementation: string, name: string): Promise<BlockSource> {
    const make = this.#makerOf(implementation);
    const made = await make({ name, ...storeSource(this.#storeOf(name), name) });
    if (typeof made?.allocate === 'function') return made;
    refuse(
      `the source of implementation ${show(implementation)}`,
      'an object with a method allocate()',
      made,
    );
  }

  /** @throws InvalidOptionError naming the known implementations when this one is not registered */
  #makerOf(implementation: string): MakeSource {
    const make = this.#implementations.get(implementation);
    if (make !== undefined) return make;
    const known = [...this.#implementations.keys()].map(show).join(', ') || 'none';
    const name = show(implementation);
    throw new InvalidOptionError(
      `implementation ${name} is not registered (known: ${known}): call register(${name}, …) first`,
    );
  }

  #requireOpen(): void {
    if (this.#closing)
      throw new ClosedError('these sequences are closed: make new ones with new Sequences(…)');
  }

  #storeOf(name: string): SequenceStore {
    this.#requireOpen();
    return this.#named.get(requireStoredName(name)) ?? this.#default;
  }
}

const USABLE = ['source', 'implementation', 'prefetch', 'as', 'unlockedNeighbours'] as const;

/** True for the same value, and for sources of the same ids. */
function isSameOption(open: unknown, given: unknown): boolean {
  return open === given || ((open as BlockSource | undefined)?.isSame?.(given as BlockSource) ?? false);
}

/**
 * @param info the definition; `undefined` for ids of another source, whose bounds are not known
 * @throws InvalidOptionError unless every id that the sequence can reach is exact as a number
 */
function requireNumbers(name: string, info: SequenceInfo | undefined): void {
  const why = info === undefined ? UNKNOWN_END : unsafeBoundOf(info);
  if (why !== undefined)
    throw new InvalidOptionError(`sequence ${show(name)}: as 'number' needs ids within ±(2^53 − 1), ${why}`);
}

const UNKNOWN_END = "and a source of its own has no known end: use as 'string', or nextNumber()";

function unsafeBoundOf({ step, cycle, next, min, max }: SequenceInfo): string | undefined {
  const reached = { max: step < 0 && !cycle ? next : max, min: step > 0 && !cycle ? next : min };
  const safe = { max: Number.MAX_SAFE_INTEGER, min: Number.MIN_SAFE_INTEGER };
  const bound = (['max', 'min'] as const).find((each) => !isSafe(reached[each]));
  if (bound === undefined) return undefined;
  return `and this one may reach ${reached[bound]}: define or alter it with ${bound}: ${safe[bound]}, or use as 'string'`;
}

type Definition = Pick<SequenceInfo, 'step' | 'cycle' | 'min' | 'max'> & { readonly start: bigint };

/**
 * The stored sequence, unless it could break what the definition promises: the step, the cycle, no number before `start`, none beyond `min` and
 * `max`. Another block size, and a `next` that has moved on, break nothing.
 *
 * @throws SequenceExistsError showing what differs
 */
function requireKeptPromises(stored: SequenceInfo, wanted: Definition): SequenceInfo {
  const { step, cycle, min, max, start } = wanted;
  const isEarly = step > 0 ? stored.next < start : stored.next > start;
  const broken = [
    ...(stored.step !== step ? [`step ${stored.step} instead of ${step}`] : []),
    ...(stored.cycle !== cycle ? [`cycle ${stored.cycle} instead of ${cycle}`] : []),
    // A sequence that cycles begins again at its min or max.
    ...(isEarly && !cycle && !stored.exhausted ? [`next ${stored.next}, before start ${start}`] : []),
    ...(stored.min < min ? [`min ${stored.min} instead of ${min}`] : []),
    ...(stored.max > max ? [`max ${stored.max} instead of ${max}`] : []),
  ];
  if (broken.length === 0) return stored;
  throw new SequenceExistsError(
    `sequence ${show(stored.name)} exists with ${broken.join(', ')}: define it as it is, or alter it`,
  );
}

function isStore(value: unknown): value is SequenceStore {
  const methods = ['allocate', 'defineSequence', 'describeSequence', 'listSequences'] as const;
  return methods.every((method) => typeof (value as SequenceStore | undefined)?.[method] === 'function');
}

function storeSource(store: SequenceStore, name: string): BlockSource {
  return {
    allocate: (blocks) => store.allocate(name, blocks),
    ...(store.giveBack && {
      giveBack: async (tail) => (await store.giveBack?.(name, tail)) ?? false,
      isLast: async (run) => (await store.describeSequence(name)).next === BigInt.asIntN(64, endOf(run)),
    }),
  };
}

/**
 * The store's allocation without the first block of each run. A program that reads the row and changes it later, without a lock, uses a
 * block that begins at a value which the row has had. Our runs begin at such a value and end at one, so their first block can be in
 * use, and what follows it cannot. A tail that goes back would make the row have a value inside a run.
 */
function besideUnlocked(store: SequenceStore, name: string): BlockSource {
  let blockSize: number | undefined;
  return {
    async allocate(blocks) {
      const asked = Math.min(blocks, MAX_BLOCKS - 1) + 1;
      const run = await store.allocate(name, asked);
      // Blocks have another size now, or the run is short because the sequence ends.
      if (blockSize === undefined || run.count !== asked * blockSize)
        ({ blockSize } = await store.describeSequence(name));
      const count = run.count - blockSize;
      if (count > 0) return partOf(run, blockSize, count);
      throw new SequenceExhaustedError(
        `sequence ${show(name)} is exhausted: its last block stays unused because of unlockedNeighbours`,
      );
    },
  };
}
