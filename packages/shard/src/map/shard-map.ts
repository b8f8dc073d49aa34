import {
  ClosedError,
  Emitter,
  type IdError,
  InvalidIdError,
  readKey,
  refuse,
  requireInteger,
  requireKnown,
  requireSignal,
  show,
} from 'idsmith/internal';
import { isClusterSettings, type ShardCluster } from '../config/cluster-settings.js';
import { type AnyClient, readConfig, type ShardConfig, type ShardSettings } from '../config/config.js';
import { nodeSetOf } from '../config/node-set.js';
import type { ShardNode } from '../config/shard-nodes.js';
import { stemOf } from '../keys/codec.js';
import { Minter } from '../mint/minter.js';
import { NodeSequence } from '../mint/node-sequence.js';
import type { BinaryClient, ClusterClient } from '../redis/binary-client.js';
import { NodeClients } from '../redis/clients.js';
import { RedisConnection } from '../redis/connection.js';
import { HashRing } from '../ring/hash-ring.js';
import { MapKeys } from './map-keys.js';
import { taggedClient } from './tagged-client.js';

/** The largest number of keys in one call. */
const MAX_COUNT = 10_000_000;

/** The argument of a `node-failed` listener. */
export interface NodeFailure {
  readonly node: ShardNode;
  readonly error: IdError;
}

/** The options of `genKey` and `genKeys`. */
export interface GenKeyOptions {
  /** Ends the call early, with the reason of the signal. Keys that were reserved for the call are never used. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Mints keys and hands out clients in place of a map while its keys are moved.
 *
 * @internal
 */
export interface KeyRouting {
  /** The node that a command on a key goes to now, as far as is known without asking a node. */
  ownerNow(key: string): ShardNode;
  getClient(key: string): unknown;
  mint(type: number, count: number, signal: AbortSignal | undefined): Promise<string[]>;
}

/**
 * Short keys that carry time and type, and the Redis nodes that own them.
 *
 * One node mints a key, and the ring decides which node owns it. Nodes mint in turn, each in its own milliseconds. A node
 * that fails is skipped.
 *
 * @typeParam Client the type of the clients: that of `redis` or `ioredis`
 *
 * @example
 * const map = new ShardMap({ shards: { 0: ['6379', '127.0.0.1', 1] }, options: { keyTypes: { user: 2 } } });
 * const key = await map.genKey('user');
 * await map.getClient(key).hSet(key, 'name', 'Ada'); // of the package redis; hset with ioredis
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
  constructor(config: ShardConfig & { readonly cluster: ShardCluster });
  constructor(config: ShardConfig<Client>);
  constructor(config: ShardConfig<Client>) {
    const settings = readConfig(config);
    super(settings.epoch, config.options);
    const { cluster } = config;
    const hasClient = cluster !== undefined && !isClusterSettings(cluster);
    this.#settings = settings;
    this.nodes = settings.nodes;
    this.#clients = new NodeClients(settings, hasClient ? () => cluster as Client : config.createClient);
    const nodeSet = nodeSetOf(settings);
    this.#sequences = settings.nodes.map(
      (node) =>
        new NodeSequence(
          new RedisConnection(node, {
            load: () => this.#clients.load(),
            client: () => this.#clients.scripts(node, settings.timeout),
            timeout: settings.timeout,
            password: settings.logins[node.index]?.password,
          }),
          nodeSet,
        ),
    );
    this.#minter = new Minter(this.#sequences, nodeSet, settings.timeout, {
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
  async genKey(type?: string | number, options?: GenKeyOptions): Promise<string> {
    const signal = readSignal('genKey(type, { signal })', options);
    const [key] = await (this.routing ?? this).mint(this.typeValueOf(type), 1, signal);
    return key as string;
  }

  /** Mints many keys, ascending, usually in one round trip. */
  async genKeys(
    type: string | number | undefined,
    count: number,
    options?: GenKeyOptions,
  ): Promise<string[]> {
    const signal = readSignal('genKeys(type, count, { signal })', options);
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
  getClient(key: string): Client {
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
  clientOf(node: ShardNode): Client {
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
  whereIs(key: string): string {
    return this.#ownerNow(key).name;
  }

  /**
   * The address of the node that owns a key, `host:port`.
   *
   * @throws InvalidIdError when the text is not a key
   */
  addressOf(key: string): string {
    return this.#ownerNow(key).address;
  }

  /** The node that owns any Redis key, whether this map minted it or not. The text before the first hyphen decides. */
  ownerOf(key: string): ShardNode {
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
  virtualShardOf(key: string): number {
    return readKey(key, this.#settings.epoch).ms % this.nodes.length;
  }

  /** Calls `listener` when a node could not mint, even if another node minted in its place. */
  on(event: 'node-failed', listener: (failure: NodeFailure) => void): this {
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
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#minter.close(closedError());
    this.#clients.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /**
   * The way to a node in bytes, for a resharding. The caller waits for `limit` ms.
   *
   * @internal
   */
  bytesOf(node: ShardNode, limit: number): BinaryClient {
    if (this.#isClosed) throw closedError();
    return this.#clients.bytes(node, limit);
  }

  /**
   * The same for the Redis Cluster of the map.
   *
   * @internal
   */
  clusterBytesOf(node: ShardNode, limit: number): ClusterClient {
    if (this.#isClosed) throw closedError();
    return this.#clients.clusterBytes(node, limit);
  }

  /** @internal */
  passwordOf(node: ShardNode): string | undefined {
    return this.#settings.logins[node.index]?.password;
  }

  /**
   * The sequences of the nodes, in the order of the nodes, for a handover.
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

/**
 * The signal in the options of a call.
 *
 * @param call the method with its arguments, as errors show it
 * @throws InvalidOptionError when there are other options, or something else in their place, like a callback
 */
function readSignal(call: string, options: GenKeyOptions | undefined): AbortSignal | undefined {
  if (options === undefined) return undefined;
  if (typeof options !== 'object' || options === null) refuse(`the options of ${call}`, 'an object', options);
  return requireSignal(requireKnown(call, options, ['signal']).signal);
}
