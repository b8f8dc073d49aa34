import type { IdError } from '../errors.js';
import { InvalidIdError } from '../errors.js';
import { refuse, refuseName, requireInteger, show } from '../options.js';
import { readConfig, type ShardConfig, type ShardNode, type ShardSettings } from './config.js';
import { refuseMore } from './extra-arguments.js';
import { fixedKey, readKey, stemOf, writeKey } from './keys/codec.js';
import { KeyTypes } from './keys/key-types.js';
import { SubKeys } from './keys/sub-keys.js';
import { Minter } from './mint/minter.js';
import { Mark, ringOf } from './mint/node-sequence.js';
import { type AnyClient, Clients } from './nodes/clients.js';
import { ShardServer } from './nodes/script-runner.js';
import { HashRing } from './ring/hash-ring.js';

/** The most keys that one call may ask for. */
const MAX_COUNT = 10_000_000;

/** What a listener of `node-failed` is told. */
export interface NodeFailure {
  readonly node: ShardNode;
  readonly error: IdError;
}

/**
 * What mints keys and hands out clients in place of a map, while keys are moved.
 *
 * @internal
 */
export interface KeyRouting {
  getClient(key: string): unknown;
  mint(type: number, count: number): Promise<string[]>;
}

/**
 * Short keys that carry time and type, and the Redis nodes they live on.
 *
 * A key is minted on one node, and lives on the one that the ring gives it to. Nodes mint in turn, each its own
 * milliseconds; one that fails is passed over.
 *
 * @typeParam Client the type of the clients, which is that of `ioredis` unless there is a `createClient`
 *
 * @example
 * const map = new ShardMap({ shards: { 0: ['6379', '127.0.0.1', 1] }, options: { keyTypes: { user: 2 } } });
 * const key = await map.genKey('user');
 * await map.getClient(key).hset(key, 'name', 'Ada');
 */
export class ShardMap<Client = AnyClient> {
  /** The nodes, in the order of the config. A Redis Cluster is one node, named `cluster`. */
  readonly nodes: readonly ShardNode[];
  readonly #settings: ShardSettings;
  readonly #clients: Clients<Client>;
  readonly #ring: HashRing;
  readonly #types: KeyTypes;
  readonly #subKeys: SubKeys;
  readonly #minter: Minter;
  readonly #listeners: ((failure: NodeFailure) => void)[] = [];

  readonly #marks: readonly Mark[];

  /**
   * Stands in for the map while keys are moved.
   *
   * @internal
   */
  routing: KeyRouting | undefined;

  /** @throws InvalidOptionError naming the entry of the config that is wrong or unknown */
  constructor(config: ShardConfig<Client>, ...more: never[]) {
    refuseMore('new ShardMap(config)', more, 'all settings are in the config');
    const settings = readConfig(config);
    const { keyTypes, specialKeys, subKeys } = config.options ?? {};
    const { cluster } = config;
    this.#settings = settings;
    this.nodes = settings.nodes;
    this.#types = new KeyTypes(keyTypes, specialKeys);
    this.#subKeys = new SubKeys(subKeys);
    this.#clients = new Clients(settings, cluster === undefined ? config.createClient : () => cluster);
    this.#ring = new HashRing(Object.fromEntries(settings.nodes.map(({ name, weight }) => [name, weight])));
    const ring = ringOf(settings);
    this.#marks = settings.nodes.map(
      (node) => new Mark(new ShardServer(node, this.#clients as Clients<unknown>, settings), ring),
    );
    this.#minter = new Minter(this.#marks, ring, {
      failed: ({ node }, error) => this.#tell({ node, error }),
    });
  }

  /**
   * A new key. Calls made at the same time share a round trip.
   *
   * @param type a name in `keyTypes` or a number up to 3843, which is the default
   * @throws InvalidOptionError when there is no such type, or other processes use these nodes with another config
   * @throws StoreError when no node can mint, naming each
   */
  async genKey(type?: string | number, ...more: never[]): Promise<string> {
    refuseMore('genKey(type)', more, 'it returns a promise, and genKeys(type, count) mints many');
    const [key] = await (this.routing ?? this).mint(this.#types.valueOf(type), 1);
    return key as string;
  }

  /** Many new keys, ascending, as a rule in one round trip. */
  async genKeys(type: string | number | undefined, count: number, ...more: never[]): Promise<string[]> {
    refuseMore('genKeys(type, count)', more, 'it returns a promise');
    requireInteger('count', count, 0, MAX_COUNT);
    return (this.routing ?? this).mint(this.#types.valueOf(type), count);
  }

  /**
   * Keys of this map's own nodes.
   *
   * @internal
   */
  mint(type: number, count: number): Promise<string[]> {
    return this.#minter.mint(type, count);
  }

  /**
   * The client of the node that owns the key.
   *
   * @throws InvalidIdError when it is no key
   * @throws StoreError when `ioredis` is needed and not installed, or the map was closed
   */
  getClient(key: string): Client {
    const owner = this.#owner(key);
    return (this.routing?.getClient(key) as Client | undefined) ?? this.#clients.of(owner);
  }

  /** The client of a node. */
  clientOf(node: ShardNode): Client {
    if (!this.nodes.includes(node)) refuse('node', 'one of the nodes of this map', node);
    return this.#clients.of(node);
  }

  /**
   * The name of the node that owns the key, `host:port`.
   *
   * @throws InvalidIdError when it is no key
   */
  whereIs(key: string, ...more: never[]): string {
    refuseMore(
      'whereIs(key)',
      more,
      'a bad key is an error, and virtualShardOf(key) gives the virtual shard',
    );
    return this.#owner(key).name;
  }

  /** The node that owns any Redis key, one of ours or not: the ring places what comes before the first hyphen. */
  ownerOf(key: string): ShardNode {
    if (typeof key !== 'string') throw new InvalidIdError(`a key must be text, not ${show(key)}`);
    return this.nodes[this.#ring.indexOf(stemOf(key))] as ShardNode;
  }

  /**
   * The sequences of the nodes, in their order, for handing them over.
   *
   * @internal
   */
  get marks(): readonly Mark[] {
    return this.#marks;
  }

  /**
   * The Redis key on every node that keeps its sequence, and is not to be moved.
   *
   * @internal
   */
  get seqname(): string {
    return this.#settings.seqname;
  }

  #owner(key: string): ShardNode {
    readKey(key, this.#settings.epoch);
    return this.ownerOf(key);
  }

  /** The number of the node that minted the key: its milliseconds modulo the number of nodes. */
  virtualShardOf(key: string): number {
    return readKey(key, this.#settings.epoch).ms % this.nodes.length;
  }

  /** The name of the key's type; `undefined` if its number has no name here. */
  getType(key: string, ...more: never[]): string | undefined {
    refuseMore('getType(key)', more, 'a bad key is always an error');
    return this.#types.nameOf(readKey(key, this.#settings.epoch).type);
  }

  /** When the key was minted, by the clock of the node that did. */
  getTime(key: string): Date {
    const { epoch } = this.#settings;
    return new Date(readKey(key, epoch).ms + epoch);
  }

  /** Milliseconds, variant and type in decimal digits, the last two of four digits each. */
  toDecimalString(key: string): string {
    const { ms, variant, type } = readKey(key, this.#settings.epoch);
    return `${ms}${String(variant).padStart(4, '0')}${String(type).padStart(4, '0')}`;
  }

  /**
   * A key of your own making. Nothing keeps it from being one that was or will be minted, but a timestamp long past.
   *
   * @param timestamp milliseconds since the epoch of the map
   * @param variant taken modulo 3844
   * @param suffix what is not 0-9, A-Z or a-z is left out of it
   */
  fixedKey(timestamp: number, variant: number, type: string | number, suffix?: string): string {
    if (type === undefined) refuse('type', 'a name or a number', type);
    return fixedKey(timestamp, variant, this.#types.valueOf(type), suffix);
  }

  /** The same key with another type. Two keys never differ in their types only. */
  changeKeyType(key: string, type: string | number): string {
    if (type === undefined) refuse('type', 'a name or a number', type);
    const value = this.#types.valueOf(type);
    readKey(key, this.#settings.epoch);
    const stem = stemOf(key);
    return `${stem.slice(0, -2)}${writeKey(0, 0, value).slice(-2)}${key.slice(stem.length)}`;
  }

  /** @throws InvalidOptionError when the name or the value is there already, or out of range */
  addKeyType(name: string, value: number): void {
    this.#types.addType(name, value);
  }

  /** @throws InvalidOptionError when the name is there already, or its type is unknown */
  addSpecialKey(name: string, value: readonly [number, string]): void {
    this.#types.addSpecialKey(name, value);
  }

  /** The types by name, `$DEF` among them: a copy. */
  get keyTypes(): Record<string, number> {
    return this.#types.values;
  }

  /** The special keys by name: a copy. */
  get specialKeys(): Record<string, string> {
    return this.#types.specialKeys;
  }

  /** The object with the short forms of its property names, all through its arrays and plain objects. */
  minify<T>(object: T): T {
    return this.#subKeys.shorten(object);
  }

  /** The inverse of `minify`. */
  maxify<T>(object: T): T {
    return this.#subKeys.lengthen(object);
  }

  /** Tells when a node could not mint, although others may have stood in for it. */
  on(event: 'node-failed', listener: (failure: NodeFailure) => void): this {
    if (event !== 'node-failed') refuseName('event', event, ['node-failed']);
    if (typeof listener !== 'function') refuse('listener', 'a function', listener);
    this.#listeners.push(listener);
    return this;
  }

  /** Ends what is under way, and the clients that the map made; those of `createClient` are yours to close. */
  async close(): Promise<void> {
    this.#minter.close();
    this.#clients.close();
  }

  /** A listener that throws is its owner's affair, and does not keep keys from being minted. */
  #tell(failure: NodeFailure): void {
    for (const listener of this.#listeners) {
      try {
        listener(failure);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
