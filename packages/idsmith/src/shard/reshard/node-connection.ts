import { IdError } from '../../errors.js';
import { type BinaryClient, binaryClient, type CommandPart } from '../../redis/client.js';
import { ScriptRunner } from '../../redis/script-runner.js';
import { unlimited } from '../nodes/command-limit.js';
import type { ShardMap } from '../shard-map.js';
import type { ShardNode } from '../shard-nodes.js';
import { type RedisKey, redisKeyOf } from './redis-key.js';
import { STATE_KEY } from './reserved-keys.js';

/** The longest time that a node may take to answer one command, ms. A large value takes long. */
const TIMEOUT = 30_000;

/** The arguments of a script, or a function that gives them for each try, because a TTL gets shorter meanwhile. */
export type ScriptArguments = readonly CommandPart[] | (() => readonly CommandPart[]);

/** A node, as resharding talks to it: commands and scripts in bytes, and errors that name the node. */
export class NodeConnection {
  readonly node: ShardNode;
  readonly #map: ShardMap<unknown>;
  readonly #makeClient: () => BinaryClient;
  #runner: ScriptRunner<BinaryClient> | undefined;

  /** @param makeClient makes the client that the connection uses. By default it is the client that the map has for the node */
  constructor(map: ShardMap<unknown>, node: ShardNode, makeClient?: () => BinaryClient) {
    this.#map = map;
    this.node = node;
    this.#makeClient = makeClient ?? (() => binaryClient(map.clientOf(node)));
  }

  /** True for a whole Redis Cluster, which is one node of its map. */
  get isCluster(): boolean {
    return false;
  }

  /** The servers of the node: the node itself, or the masters of a cluster. */
  async servers(): Promise<readonly NodeConnection[]> {
    return [this];
  }

  /** A text that changes when keys go from one of the servers to another; `undefined` while keys do so. */
  async layout(): Promise<string | undefined> {
    return '';
  }

  /** The name that a key has on the node. */
  nameOf(key: RedisKey): RedisKey {
    return key;
  }

  /** The key that has a name on the node. */
  keyOf(name: RedisKey): RedisKey {
    return name;
  }

  /** Splits keys into lists of keys that one script may use together. */
  groupsOf(keys: readonly RedisKey[]): (readonly RedisKey[])[] {
    return keys.length === 0 ? [] : [keys];
  }

  /** The Redis keys that a step with some keys of one group begins with: those of the state and of the list. */
  placeOf(list: string, _keys: readonly RedisKey[]): readonly [state: string, list: string] {
    return [STATE_KEY, list];
  }

  /** Reads a list: the keys that movers have claimed or taken. */
  async listedKeys(list: string): Promise<RedisKey[]> {
    return ((await this.command('reading leftovers', 'HKEYS', list)) as Uint8Array[]).map((name) =>
      this.keyOf(redisKeyOf(name)),
    );
  }

  /** Removes keys from a list. */
  async unlist(list: string, keys: readonly RedisKey[]): Promise<void> {
    for (const group of this.groupsOf(keys))
      await this.command(
        'reading leftovers',
        ...['HDEL', this.placeOf(list, group)[1]],
        ...group.map((key) => this.nameOf(key)),
      );
  }

  /** The entries of keys of one group in a list; `null` where there is none. */
  async entriesOf(list: string, keys: readonly RedisKey[]): Promise<(string | null)[]> {
    const names = keys.map((key) => this.nameOf(key));
    const entries = await this.command('reading a list', 'HMGET', this.placeOf(list, keys)[1], ...names);
    return (entries as (Uint8Array | null)[]).map((entry) => entry && String(entry));
  }

  /** The address, which tells the servers of two configs apart. The names in `shards` may differ. */
  get name(): string {
    return this.node.address;
  }

  /**
   * Sends a command. Text in the reply comes as bytes.
   *
   * @param operation the name of the operation in error messages
   * @throws StoreError naming the node
   */
  async command(operation: string, ...parts: CommandPart[]): Promise<unknown> {
    return this.#connect(operation).use(operation, (client) => client.send(...parts));
  }

  /**
   * Runs a script. Text in the reply comes as bytes. After a timeout, Redis may still run the script. All scripts allow for
   * that.
   *
   * @param operation the name of the operation in error messages
   * @throws StoreError naming the node
   */
  async run(
    operation: string,
    script: string,
    keys: readonly CommandPart[],
    args: ScriptArguments = [],
  ): Promise<unknown[]> {
    const now = typeof args === 'function' ? args() : args;
    return (await this.#connect(operation).run(operation, script, keys, now)) as unknown[];
  }

  #connect(operation: string): ScriptRunner<BinaryClient> {
    try {
      this.#runner ??= new ScriptRunner(patient(this.#makeClient()), {
        timeout: TIMEOUT,
        errorOf: (failed, error) => this.errorOf(failed, error),
      });
      return this.#runner;
    } catch (error) {
      throw this.errorOf(operation, error);
    }
  }

  /** The error to throw for an error of a driver. */
  errorOf(operation: string, error: unknown): IdError {
    const sequence = this.#map.sequences[this.node.index];
    if (sequence === undefined || (error instanceof IdError && error.code !== 'STORE'))
      return error as IdError;
    return sequence.runner.errorOf(operation, error);
  }
}

/** A client without time limits of its own, because the script runner has one. */
function patient(client: BinaryClient): BinaryClient {
  return {
    send: (...parts) => unlimited(() => client.send(...parts)),
    evaluate: (...command) => unlimited(() => client.evaluate(...command)),
  };
}
