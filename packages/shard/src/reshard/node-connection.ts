import { type CommandPart, pause, StoreError, systemTimer } from 'idsmith/internal';
import type { ShardNode } from '../config/shard-nodes.js';
import type { ShardMap } from '../map/shard-map.js';
import type { BinaryClient } from '../redis/binary-client.js';
import { RedisConnection } from '../redis/connection.js';
import { packTexts } from '../redis/message-pack.js';
import { UNLIST_KEYS } from '../redis/scripts.js';
import { PROBE_KEY, type RedisKey, redisKeyOf, STATE_KEY } from './redis-keys.js';

/** The longest time that a node may take to answer one command, ms. A large value takes long. */
export const TIMEOUT = 30_000;

/** Lists of keys that were packed for a step. The next step, on the other node, mostly has the same list. */
const packedKeys = new WeakMap<readonly RedisKey[], Uint8Array>();

/** A node, as resharding talks to it: commands and scripts in bytes, and errors that name the node. */
export class NodeConnection extends RedisConnection<BinaryClient> {
  /** The identity of the node in everything that is stored: a name on the ring. The address may change meanwhile. */
  readonly id: string;

  /** @param client makes the client that the connection uses. By default it is the client that the map has for the node */
  constructor(map: ShardMap<unknown>, node: ShardNode, id: string, client?: () => BinaryClient) {
    super(node, {
      client: client ?? (() => map.bytesOf(node, TIMEOUT)),
      timeout: TIMEOUT,
      password: map.passwordOf(node),
    });
    this.id = id;
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

  /** Names of keys that checks may use for a moment: one on each server of the node. */
  async probeKeys(): Promise<readonly string[]> {
    return [PROBE_KEY];
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
    return this.use(operation, (client) => client.send(...parts));
  }
}

/** The approximate number of keys that one SCAN looks at. */
const SCAN_COUNT = 1000;

/** The time for which a node that changes all the time is scanned again and again, ms. */
const PATIENCE = 120_000;

/** The pause before a node that has changed is looked at again, ms. */
const WAIT = 500;

/**
 * Reads all keys of a node in small lists. A key that exists during the whole scan comes at least once. So a node is scanned again
 * if a server was started again meanwhile, because the cursor of a scan means nothing to it then, and a cluster if a slot went
 * from one server to another.
 *
 * @throws StoreError when a node is started again all the time, or does not stop moving slots
 */
export async function* scanKeys(node: NodeConnection): AsyncGenerator<RedisKey[]> {
  for (const started = performance.now(); ; ) {
    const before = await node.layout();
    if (before !== undefined) {
      for (const server of await node.servers())
        for await (const names of scanServer(server)) yield names.map((name) => node.keyOf(name));
      if ((await node.layout()) === before) return;
    }
    if (performance.now() - started > PATIENCE)
      throw new StoreError(
        `node ${node.address}: scanning failed: for ${PATIENCE / 1000} s it was started again, or moved slots between its ` +
          'masters, during every scan. Run it again when that has ended',
      );
    await pause(systemTimer, WAIT, false);
  }
}

async function* scanServer(node: NodeConnection): AsyncGenerator<RedisKey[]> {
  let cursor = '0';
  do {
    const reply = await node.command('scanning', 'SCAN', cursor, 'COUNT', SCAN_COUNT);
    const [next, keys] = reply as [unknown, Uint8Array[]];
    cursor = String(next);
    yield keys.map(redisKeyOf);
  } while (cursor !== '0');
}
