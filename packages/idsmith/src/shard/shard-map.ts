import { ClosedError, type IdError, InvalidIdError } from '../errors.js';
import { refuse, requireInteger, show } from '../options.js';
import { Emitter } from '../support/emitter.js';
import { isClusterSettings, type ShardCluster } from './cluster/cluster-settings.js';
import { taggedClient } from './cluster/tagged-client.js';
import { type AnyClient, readConfig, type ShardConfig, type ShardSettings } from './config.js';
import { refuseExtraArguments } from './extra-arguments.js';
import { type GenKeyOptions, readSignal } from './gen-key-options.js';
import type { KeyRouting } from './key-routing.js';
import { readKey, stemOf } from './keys/codec.js';
import { MapKeys } from './keys/map-keys.js';
import { Minter } from './mint/minter.js';
import { NodeSequence } from './mint/node-sequence.js';
import { nodeSetOf } from './mint/node-set.js';
import { NodeClients } from './nodes/clients.js';
import { NodeScriptRunner } from './nodes/node-script-runner.js';
import { HashRing } from './ring/hash-ring.js';
import type { ShardNode } from './shard-nodes.js';

/** The largest number of keys in one call. */
const MAX_COUNT = 10_000_000;

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
export class ShardMap<Client = AnyClient> extends MapKeys {
  /** The nodes, in the order of the config. A Redis Cluster is one node with the name `cluster`. */
  readonly nodes: readonly ShardNode[];
  readonly #settings: ShardSettings;
  readonly #clients: NodeClients<Client>;
  /** The ring, which is built when the first owner is asked for. */
  #ring: HashRing | undefined;
  /** The nodes in the order of the ring. An object lists names like `10` first, so the order may differ from `nodes`. */
  #ringNodes: readonly ShardNode[] = [];
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
  constructor(config: ShardConfig & { readonly cluster: ShardCluster }, ...extra: never[]);
  constructor(config: ShardConfig<Client>, ...extra: never[]);
  constructor(config: ShardConfig<Client>, ...extra: never[]) {
    refuseExtraArguments('new ShardMap(config)', extra, 'all settings are in the config');
    const settings = readConfig(config);
    super(settings.epoch, config.options);
    const { cluster } = config;
    const hasClient = cluster !== undefined && !isClusterSettings(cluster);
    this.#settings = settings;
    this.nodes = settings.nodes;
    this.#clients = new NodeClients(settings, hasClient ? () => cluster as Client : config.createClient);
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
    const [key] = await (this.routing ?? this).mint(this.typeValueOf(type), 1, signal);
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
    return (this.routing ?? this).mint(this.typeValueOf(type), count, signal);
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
    this.#ring ??= this.#buildRing();
    return this.#ringNodes[this.#ring.indexOf(stemOf(key))] as ShardNode;
  }

  #buildRing(): HashRing {
    const weights = Object.fromEntries(this.nodes.map(({ ringName, weight }) => [ringName, weight]));
    const byRingName = new Map(this.nodes.map((node) => [node.ringName, node]));
    this.#ringNodes = Object.keys(weights).map((ringName) => byRingName.get(ringName) as ShardNode);
    return new HashRing(weights);
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
