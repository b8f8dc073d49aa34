import { packTexts } from '../../encoding/message-pack.js';
import { IdError } from '../../errors.js';
import { type BinaryClient, binaryClient, type CommandPart } from '../../redis/client.js';
import { ScriptRunner } from '../../redis/script-runner.js';
import { UNLIST_KEYS } from '../../redis/scripts.js';
import { limitedByCaller } from '../nodes/command-limit.js';
import type { ShardMap } from '../shard-map.js';
import type { ShardNode } from '../shard-nodes.js';
import { type RedisKey, redisKeyOf } from './redis-key.js';
import { STATE_KEY } from './reserved-keys.js';

/** The longest time that a node may take to answer one command, ms. A large value takes long. */
const TIMEOUT = 30_000;

/** Lists of keys that were packed for a step. The next step, on the other node, mostly has the same list. */
const packedKeys = new WeakMap<readonly RedisKey[], Uint8Array>();

/** A node, as resharding talks to it: commands and scripts in bytes, and errors that name the node. */
export class NodeConnection {
  readonly node: ShardNode;
  /** The identity of the node in everything that is stored: a name on the ring. The address may change meanwhile. */
  readonly id: string;
  readonly #map: ShardMap<unknown>;
  readonly #makeClient: () => BinaryClient;
  #runner: ScriptRunner<BinaryClient> | undefined;

  /** @param makeClient makes the client that the connection uses. By default it is the client that the map has for the node */
  constructor(map: ShardMap<unknown>, node: ShardNode, id: string, makeClient?: () => BinaryClient) {
    this.#map = map;
    this.node = node;
    this.id = id;
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

  /**
   * A text that changes when keys go from one of the servers to another, or a server is started again or replaced; `undefined`
   * while keys do so. It is the replication id of the server. A cluster adds its slots.
   */
  async layout(): Promise<string | undefined> {
    const info = String(await this.command('reading the layout', 'INFO', 'replication'));
    return /^master_replid:(\w+)/m.exec(info)?.[1] ?? '';
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

  /** Reads the entries of keys in a list. Keys without an entry are left out. */
  async readEntries(list: string, keys: readonly RedisKey[]): Promise<Map<RedisKey, Uint8Array>> {
    const found = new Map<RedisKey, Uint8Array>();
    for (const group of this.groupsOf(keys)) {
      const entries = await this.entriesOf(list, group);
      for (const [i, key] of group.entries()) if (entries[i] != null) found.set(key, entries[i]);
    }
    return found;
  }

  /** Removes keys from a list, if their entries are still these: another mover may have written new ones. */
  async unlist(list: string, entries: ReadonlyMap<RedisKey, Uint8Array>): Promise<void> {
    for (const group of this.groupsOf([...entries.keys()])) {
      const names = [this.placeOf(list, group)[1], ...group.map((key) => this.nameOf(key))];
      await this.run(
        ...(['removing leftovers', UNLIST_KEYS, names] as const),
        group.map((key) => entries.get(key) as Uint8Array),
      );
    }
  }

  /** The entries of keys of one group in a list; `null` where there is none. */
  async entriesOf(list: string, keys: readonly RedisKey[]): Promise<(Uint8Array | null)[]> {
    const names = keys.map((key) => this.nameOf(key));
    return (await this.command(
      'reading a list',
      'HMGET',
      this.placeOf(list, keys)[1],
      ...names,
    )) as (Uint8Array | null)[];
  }

  /**
   * Keys of one group as a step takes them: as arguments, or packed into one. The one costs client and server much less than
   * hundreds do.
   */
  keyArguments(keys: readonly RedisKey[]): readonly [names: readonly RedisKey[], packed: CommandPart] {
    const packed = packedKeys.get(keys) ?? packTexts(keys);
    packedKeys.set(keys, packed);
    return [[], packed];
  }

  /** The address, which tells the servers of two configs apart and names them for people. The names in `shards` may differ. */
  get address(): string {
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
    args: readonly CommandPart[] = [],
  ): Promise<unknown[]> {
    return (await this.#connect(operation).run(operation, script, keys, args)) as unknown[];
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
    send: (...parts) => limitedByCaller(TIMEOUT, () => client.send(...parts)),
    evaluate: (...command) => limitedByCaller(TIMEOUT, () => client.evaluate(...command)),
  };
}
