import { systemClock } from '../clock.js';
import { ClosedError, InvalidOptionError, NoSuchSequenceError, SequenceExistsError } from '../errors.js';
import { refuse, requireKnown, requireMethod, show } from '../options.js';
import { systemTimer } from '../support/timer.js';
import { endOf } from './block.js';
import { DEFINABLE } from './blocks.js';
import { definitionOf, requireSameDefinition } from './definition.js';
import { Implementations, type MakeSource, type NamedSource } from './implementations.js';
import { requireStoredName } from './name.js';
import type { BlockSource, SequenceChanges, SequenceInfo, SequenceOptions, SequenceStore } from './port.js';
import { type Prefetch, prefetchPolicy } from './prefetch.js';
import { Sequence } from './sequence.js';
import type { SequenceStatus } from './status.js';
import type { SequenceTime } from './surplus.js';

/** Options of `Sequences.get`. */
export interface SequenceUse {
  /** A source of blocks other than the store, for example `postgresSequence(…)`. */
  readonly source?: BlockSource;
  /** The name of a source that was registered with `register`, instead of a `source`. */
  readonly implementation?: string;
  /**
   * The number of blocks to keep ahead, from 0 to 1000. With 0, exactly one block is taken when it is needed. `'adaptive'`, the
   * default, keeps as many as the present rate needs.
   */
  readonly prefetch?: Prefetch;
}

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
  readonly #open = new Map<string, Opened>();
  /** Every sequence that was handed out and is not closed, also those whose name was removed. */
  readonly #handedOut = new Set<Sequence>();
  readonly #implementations = new Implementations();
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
   * @throws InvalidOptionError naming the wrong option; nothing is defined
   */
  async define(name: string, options: SequenceOptions = {}): Promise<SequenceInfo> {
    requireKnown('options', options, DEFINABLE);
    const store = this.#storeOf(name);
    await store.defineSequence({ ...options, name });
    return store.describeSequence(name);
  }

  /**
   * Defines a sequence unless it exists. An existing sequence must have the same definition, with the defaults of options that
   * are left out. Any number of processes may call `ensure` at the same time.
   *
   * @throws SequenceExistsError showing both definitions when the sequence exists with another one
   * @throws InvalidOptionError naming the wrong option; nothing is defined
   */
  async ensure(name: string, options: SequenceOptions = {}): Promise<SequenceInfo> {
    requireKnown('options', options, DEFINABLE);
    const wanted = definitionOf(name, options);
    try {
      return requireSameDefinition(await this.describe(name), wanted);
    } catch (error) {
      if (!(error instanceof NoSuchSequenceError)) throw error;
    }
    try {
      return await this.define(name, options);
    } catch (error) {
      // Somebody else has defined the sequence meanwhile.
      if (!(error instanceof SequenceExistsError)) throw error;
      return requireSameDefinition(await this.describe(name), wanted);
    }
  }

  /**
   * Alters a sequence, also while it is used. Blocks that were taken before stay as they are.
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
   * @throws InvalidOptionError when the name is registered with another function
   */
  register(name: string, make: MakeSource): this {
    this.#requireOpen();
    this.#implementations.register(name, make);
    return this;
  }

  /**
   * The sequence of that name: always the same object until it is closed.
   *
   * @throws NoSuchSequenceError when it is not defined
   * @throws InvalidOptionError when an option is wrong, or differs from the option that the sequence is open with
   */
  async get(name: string, use: SequenceUse = {}): Promise<Sequence> {
    this.#requireOpen();
    requireStoredName(name);
    requireKnown('options', use, USABLE);
    prefetchPolicy(use.prefetch);
    if (use.implementation !== undefined) {
      this.#implementations.makerOf(use.implementation);
      if (use.source !== undefined)
        throw new InvalidOptionError(`sequence ${show(name)}: give a source or an implementation, not both`);
    }
    const open = this.#open.get(name);
    if (open !== undefined) {
      const isSame = {
        source: isSameSource(open.use.source, use.source),
        implementation: use.implementation === open.use.implementation,
        prefetch: use.prefetch === open.use.prefetch,
      };
      for (const option of USABLE)
        if (use[option] !== undefined && !isSame[option])
          throw new InvalidOptionError(
            `sequence ${show(name)} is open with another ${option}: use the same options, or close it first`,
          );
      return open.sequence;
    }
    const entry: Opened = {
      use: { ...use, prefetch: use.prefetch ?? 'adaptive' },
      sequence: this.#make(name, use, () => this.#forget(name, entry)),
    };
    this.#open.set(name, entry);
    entry.sequence.catch(() => this.#forget(name, entry));
    return entry.sequence;
  }

  /** The supply of every sequence that is open, for a readiness probe. Asks nobody, and works after `close()`. */
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

  async #make(name: string, use: SequenceUse, onClose: () => void): Promise<Sequence> {
    const { source, implementation, prefetch } = use;
    const [from, blockSize] =
      implementation !== undefined
        ? [await this.#implementations.makeSource(implementation, this.#namedSource(name)), undefined]
        : source === undefined
          ? await this.#sourceOf(name)
          : [requireMethod('source', 'allocate', source, source), undefined];
    this.#requireOpen();
    const policy = prefetchPolicy(prefetch, blockSize);
    const sequence = new Sequence({ name, source: from, policy, time: this.#time }, () => {
      this.#handedOut.delete(sequence);
      onClose();
    });
    this.#handedOut.add(sequence);
    return sequence;
  }

  /** The store's own allocation as a source, and the size of a block. */
  async #sourceOf(name: string): Promise<[BlockSource, number | undefined]> {
    const store = this.#storeOf(name);
    const { blockSize } = await store.describeSequence(name);
    // Another program may have set the block size to 0. The first allocation refuses that, so it may still be corrected.
    return [storeSource(store, name), blockSize >= 1 ? blockSize : undefined];
  }

  #namedSource(name: string): NamedSource {
    return { name, ...storeSource(this.#storeOf(name), name) };
  }

  #forget(name: string, entry: Opened): void {
    if (this.#open.get(name) === entry) this.#open.delete(name);
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

/** A sequence in use, and its options. */
interface Opened {
  readonly use: SequenceUse;
  readonly sequence: Promise<Sequence>;
}

function isSameSource(one: BlockSource | undefined, other: BlockSource | undefined): boolean {
  return one === other || (one !== undefined && other !== undefined && (one.isSame?.(other) ?? false));
}

const USABLE = ['source', 'implementation', 'prefetch'] as const;

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
