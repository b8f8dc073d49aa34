import { ClosedError, type IdError, InvalidIdError } from '../errors.js';
import { refuse, requireInteger, requireKnown, show } from '../options.js';
import { requireSignal } from '../support/abort.js';
import { Emitter } from '../support/emitter.js';
import { taggedClient } from './cluster/tagged-client.js';
import { type AnyClient, readConfig, type ShardConfig, type ShardSettings } from './config.js';
import { refuseExtraArguments } from './extra-arguments.js';
import type { KeyRouting } from './key-routing.js';
import { fixedKey, readKey, stemOf, writeKey } from './keys/codec.js';
import { KeyTypes } from './keys/key-types.js';
import { SubKeys } from './keys/sub-keys.js';
import { Minter } from './mint/minter.js';
import { NodeSequence } from './mint/node-sequence.js';
import { nodeSetOf } from './mint/node-set.js';
import { NodeClients } from './nodes/clients.js';
import { NodeScriptRunner } from './nodes/node-script-runner.js';
import { HashRing } from './ring/hash-ring.js';
import type { ShardNode } from './shard-nodes.js';

/** The largest number of keys in one call. */
const MAX_COUNT = 10_000_000;

/** The options of `genKey` and `genKeys`. */
export interface GenKeyOptions {
  /** Ends the call early, with the reason of the signal. Keys that were reserved for the call are never used. */
  readonly signal?: AbortSignal;
}

/** The argument of a `node-failed` listener. */
export interface NodeFailure {
  readonly node: ShardNode;
  readonly error: IdError;
}

/**
 * Short keys that carry time and type, and the Redis nodes that own them.
 *
 * One node mints a key, and the ring decides which node owns it. Nodes mint in turn, each in its own milliseconds. A node
 * that fails is skipped.
 *
 * @typeParam Client the type of the clients: that of `ioredis`, unless the config has a `createClient`
 *
 * @example
 * const map = new ShardMap({ shards: { 0: ['6379', '127.0.0.1', 1] }, options: { keyTypes: { user: 2 } } });
 * const key = await map.genKey('user');
 * await map.getClient(key).hset(key, 'name', 'Ada');
 */
export class ShardMap<Client = AnyClient> {
  /** The nodes, in the order of the config. A Redis Cluster is one node with the name `cluster`. */
  readonly nodes: readonly ShardNode[];
  readonly #settings: ShardSettings;
  readonly #clients: NodeClients<Client>;
  readonly #ring: HashRing;
  /** The nodes in the order of the ring. An object lists names like `10` first, so the order may differ from `nodes`. */
  readonly #ringNodes: readonly ShardNode[];
  readonly #types: KeyTypes;
  readonly #subKeys: SubKeys;
  readonly #sequences: readonly NodeSequence[];
  readonly #minter: Minter;
  #isClosed = false;
  readonly #events = new Emitter<{ 'node-failed': [failure: NodeFailure] }>(['node-failed']);

  /**
   * Takes the place of the map while keys are moved.
   *
   * @internal
   */
  routing: KeyRouting | undefined;

  /** @throws InvalidOptionError naming the entry of the config that is wrong or unknown */
  constructor(config: ShardConfig<Client>, ...extra: never[]) {
    refuseExtraArguments('new ShardMap(config)', extra, 'all settings are in the config');
    const settings = readConfig(config);
    const { keyTypes, specialKeys, subKeys } = config.options ?? {};
    const { cluster } = config;
    this.#settings = settings;
    this.nodes = settings.nodes;
    this.#types = new KeyTypes(keyTypes, specialKeys);
    this.#subKeys = new SubKeys(subKeys);
    this.#clients = new NodeClients(settings, cluster === undefined ? config.createClient : () => cluster);
    const weights = Object.fromEntries(settings.nodes.map(({ ringName, weight }) => [ringName, weight]));
    this.#ring = new HashRing(weights);
    const byRingName = new Map(settings.nodes.map((node) => [node.ringName, node]));
    this.#ringNodes = Object.keys(weights).map((ringName) => byRingName.get(ringName) as ShardNode);
    const nodeSet = nodeSetOf(settings);
    const clients = this.#clients as NodeClients<unknown>;
    this.#sequences = settings.nodes.map(
      (node) => new NodeSequence(new NodeScriptRunner(node, clients, settings), nodeSet),
    );
    this.#minter = new Minter(this.#sequences, nodeSet, {
      failed: ({ node }, error) => this.#events.emit('node-failed', { node, error }),
    });
  }

  /**
   * Mints a key. Calls at the same time share a round trip.
   *
   * @param type a name in `keyTypes`, or a number up to 3843, which is the default
   * @throws InvalidOptionError when the type is unknown, or other processes use these nodes with another config
   * @throws StoreError naming each node, when no node can mint
   * @throws ClosedError after `close()`; the reason of `signal`
   */
  async genKey(type?: string | number, options?: GenKeyOptions, ...extra: never[]): Promise<string> {
    const advice = 'it returns a promise, and genKeys(type, count) mints many';
    const signal = readSignal('genKey(type, { signal })', options, extra, advice);
    const [key] = await (this.routing ?? this).mint(this.#types.valueOf(type), 1, signal);
    return key as string;
  }

  /** Mints many keys, ascending, usually in one round trip. */
  async genKeys(
    type: string | number | undefined,
    count: number,
    options?: GenKeyOptions,
    ...extra: never[]
  ): Promise<string[]> {
    const signal = readSignal('genKeys(type, count, { signal })', options, extra, 'it returns a promise');
    requireInteger('count', count, 0, MAX_COUNT);
    return (this.routing ?? this).mint(this.#types.valueOf(type), count, signal);
  }

  /**
   * Mints on the nodes of this map, whatever `routing` says.
   *
   * @internal
   */
  async mint(type: number, count: number, signal?: AbortSignal): Promise<string[]> {
    if (this.#isClosed) throw closedError();
    return this.#minter.mint(type, count, signal);
  }

  /**
   * The client of the node that owns a key.
   *
   * @throws InvalidIdError when the text is not a key
   * @throws StoreError when a driver is needed and not installed
   * @throws ClosedError after `close()`
   */
  getClient(key: string, ...extra: never[]): Client {
    refuseExtraArguments('getClient(key)', extra, 'it returns the client');
    if (this.#isClosed) throw closedError();
    const owner = this.#owner(key);
    return (this.routing?.getClient(key) as Client | undefined) ?? this.ownClient(owner, key);
  }

  /**
   * The client of a node of this map for a key, whatever `routing` says.
   *
   * @internal
   */
  ownClient(node: ShardNode, key: string): Client {
    const client = this.clientOf(node);
    return this.hasHashTags ? taggedClient(client, stemOf(key)) : client;
  }

  /** The client of a node. */
  clientOf(node: ShardNode, ...extra: never[]): Client {
    refuseExtraArguments('clientOf(node)', extra, 'it returns the client');
    if (this.#isClosed) throw closedError();
    if (!this.nodes.includes(node)) refuse('node', 'one of the nodes of this map', node);
    return this.#clients.of(node);
  }

  /**
   * The name in `shards` of the node that owns a key: `0`, `1`, … While keys are moved, it is the node that commands on the key
   * go to now, with its name in the old or the new config.
   *
   * @throws InvalidIdError when the text is not a key
   */
  whereIs(key: string, ...extra: never[]): string {
    refuseExtraArguments(
      'whereIs(key)',
      extra,
      'a bad key is an error, and virtualShardOf(key) gives the virtual shard',
    );
    return this.#ownerNow(key).name;
  }

  /**
   * The address of the node that owns a key, `host:port`.
   *
   * @throws InvalidIdError when the text is not a key
   */
  addressOf(key: string, ...extra: never[]): string {
    refuseExtraArguments('addressOf(key)', extra, 'a bad key is always an error');
    return this.#ownerNow(key).address;
  }

  /** The node that owns any Redis key, whether this map minted it or not. The text before the first hyphen decides. */
  ownerOf(key: string, ...extra: never[]): ShardNode {
    refuseExtraArguments('ownerOf(key)', extra, 'it returns the node');
    if (typeof key !== 'string') throw new InvalidIdError(`a key must be text, not ${show(key)}`);
    return this.#ringNodes[this.#ring.indexOf(stemOf(key))] as ShardNode;
  }

  #ownerNow(key: string): ShardNode {
    const owner = this.#owner(key);
    return this.routing?.ownerNow(key) ?? owner;
  }

  #owner(key: string): ShardNode {
    readKey(key, this.#settings.epoch);
    return this.ownerOf(key);
  }

  /** The index of the node that minted a key: the key's milliseconds modulo the number of nodes. */
  virtualShardOf(key: string, ...extra: never[]): number {
    refuseExtraArguments('virtualShardOf(key)', extra, 'a bad key is always an error');
    return readKey(key, this.#settings.epoch).ms % this.nodes.length;
  }

  /** The name of a key's type; `undefined` if the type has no name in this map. */
  getType(key: string, ...extra: never[]): string | undefined {
    refuseExtraArguments('getType(key)', extra, 'a bad key is always an error');
    return this.#types.nameOf(readKey(key, this.#settings.epoch).type);
  }

  /** The time at which a key was minted, by the clock of the node that minted it. */
  getTime(key: string, ...extra: never[]): Date {
    refuseExtraArguments('getTime(key)', extra, 'a bad key is always an error');
    const { epoch } = this.#settings;
    return new Date(readKey(key, epoch).ms + epoch);
  }

  /** The milliseconds, variant and type of a key in decimal digits. Variant and type have four digits each. */
  toDecimalString(key: string, ...extra: never[]): string {
    refuseExtraArguments('toDecimalString(key)', extra, 'a bad key is always an error');
    const { ms, variant, type } = readKey(key, this.#settings.epoch);
    return `${ms}${String(variant).padStart(4, '0')}${String(type).padStart(4, '0')}`;
  }

  /**
   * Makes a key of given parts. Use a timestamp of long ago: the map may mint the same key otherwise.
   *
   * @param timestamp milliseconds since the epoch of the map
   * @param variant taken modulo 3844
   * @param suffix characters other than 0-9, A-Z and a-z are left out
   */
  fixedKey(
    timestamp: number,
    variant: number,
    type: string | number,
    suffix?: string,
    ...extra: never[]
  ): string {
    refuseExtraArguments('fixedKey(timestamp, variant, type, suffix)', extra, 'it returns the key');
    if (type === undefined) refuse('type', 'a name or a number', type);
    return fixedKey(timestamp, variant, this.#types.valueOf(type), suffix);
  }

  /** The same key with another type. Minted keys never differ in their types only, so the result is unique, too. */
  changeKeyType(key: string, type: string | number, ...extra: never[]): string {
    refuseExtraArguments('changeKeyType(key, type)', extra, 'it returns the key');
    if (type === undefined) refuse('type', 'a name or a number', type);
    const value = this.#types.valueOf(type);
    readKey(key, this.#settings.epoch);
    const stem = stemOf(key);
    return `${stem.slice(0, -2)}${writeKey(0, 0, value).slice(-2)}${key.slice(stem.length)}`;
  }

  /** @throws InvalidOptionError when the name or the value is already defined, or the value is out of range */
  addKeyType(name: string, value: number, ...extra: never[]): void {
    refuseExtraArguments('addKeyType(name, value)', extra, 'it adds one type');
    this.#types.addType(name, value);
  }

  /** @throws InvalidOptionError when the name is already defined, or its type is unknown */
  addSpecialKey(name: string, value: readonly [number, string], ...extra: never[]): void {
    refuseExtraArguments('addSpecialKey(name, [timestamp, type])', extra, 'the value is a list of two');
    this.#types.addSpecialKey(name, value);
  }

  /** The types by name, with `$DEF` among them: a copy. */
  get keyTypes(): Record<string, number> {
    return this.#types.values;
  }

  /** The special keys by name: a copy. */
  get specialKeys(): Record<string, string> {
    return this.#types.specialKeys;
  }

  /** Calls `listener` when a node could not mint, even if another node minted in its place. */
  on(event: 'node-failed', listener: (failure: NodeFailure) => void, ...extra: never[]): this {
    refuseExtraArguments('on(event, listener)', extra, 'it takes one listener');
    this.#events.on(event, listener);
    return this;
  }

  /** Calls `listener` at the next event only. */
  once(event: 'node-failed', listener: (failure: NodeFailure) => void): this {
    this.#events.once(event, listener);
    return this;
  }

  /** Removes a listener. */
  off(event: 'node-failed', listener: (failure: NodeFailure) => void): this {
    this.#events.off(event, listener);
    return this;
  }

  /**
   * Ends pending calls and the clients that the map made. Clients of `createClient` stay open. Afterwards, methods that need a
   * node throw `ClosedError`. Methods that only read or make keys still work.
   */
  async close(...extra: never[]): Promise<void> {
    refuseExtraArguments('close()', extra, 'it returns a promise');
    this.#isClosed = true;
    this.#minter.close(closedError());
    this.#clients.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** A copy of an object with short property names (`subKeys`), at every depth of arrays and plain objects. */
  minify<T>(object: T, ...extra: never[]): T {
    refuseExtraArguments('minify(object)', extra, 'it returns the copy');
    return this.#subKeys.shorten(object);
  }

  /** The inverse of `minify`. */
  maxify<T>(object: T, ...extra: never[]): T {
    refuseExtraArguments('maxify(object)', extra, 'it returns the copy');
    return this.#subKeys.lengthen(object);
  }

  /**
   * The sequences of the nodes, in the order of the nodes, for a hand-over.
   *
   * @internal
   */
  get sequences(): readonly NodeSequence[] {
    return this.#sequences;
  }

  /** @internal */
  get isCluster(): boolean {
    return this.#settings.isCluster;
  }

  /** @internal */
  get hasHashTags(): boolean {
    return this.#settings.hashTags;
  }

  /**
   * The Redis key of every node's sequence. Resharding never moves this key.
   *
   * @internal
   */
  get seqname(): string {
    return this.#settings.seqname;
  }
}

const closedError = () => new ClosedError('the map is closed: make a new ShardMap');

function readSignal(
  call: string,
  options: GenKeyOptions | undefined,
  extra: readonly unknown[],
  advice: string,
): AbortSignal | undefined {
  if (options !== undefined && (typeof options !== 'object' || options === null)) extra = [options];
  refuseExtraArguments(call, extra, advice);
  return options === undefined ? undefined : requireSignal(requireKnown(call, options, ['signal']).signal);
}
