import {
  ClosedError,
  type CommandPart,
  packageError,
  refuse,
  type ScriptClient,
  StoreError,
  textClient,
} from 'idsmith/internal';
import type { NodeLogin } from '../config/auth.js';
import type { DriverName, ShardSettings } from '../config/config.js';
import type { ShardNode } from '../config/shard-nodes.js';
import {
  type BinaryClient,
  binaryClient,
  bytesForDriver,
  type ClusterClient,
  clusterClient,
} from './binary-client.js';
import { type Ioredis, type IoredisClusters, ioredisClient, ioredisCluster } from './ioredis.js';
import type { MadeClient } from './made-client.js';
import { type NodeRedis, nodeRedisClient } from './node-redis.js';

/** Makes a client of a node with a driver that is loaded. */
type Connect = (node: ShardNode, login: NodeLogin, timeout: number) => MadeClient;

/**
 * The drivers, the preferred one first, as for stores. Code that uses `getClient` is written for one driver, so the order must
 * not change.
 */
const DRIVERS: readonly DriverName[] = ['redis', 'ioredis'];

/** The clients of the nodes. Each client is made on first use. */
export class NodeClients<Client> {
  readonly #settings: ShardSettings;
  readonly #create: ((node: ShardNode) => Client) | undefined;
  readonly #clients = new Map<ShardNode, Client>();
  /** Those of the clients that were made here. */
  readonly #made = new Map<ShardNode, MadeClient>();
  #connect: Connect | undefined;
  #isClosed = false;

  constructor(settings: ShardSettings, create: ((node: ShardNode) => Client) | undefined) {
    if (create !== undefined && typeof create !== 'function') refuse('createClient', 'a function', create);
    this.#settings = settings;
    this.#create = create;
  }

  /** Loads a driver, unless `createClient` makes the clients. */
  async load(): Promise<void> {
    if (this.#create !== undefined || this.#connect !== undefined) return;
    const names = this.#driverNames();
    for (const name of names) {
      try {
        this.#connect ??= connectWith(name, await loadDriver(name));
        return;
      } catch (error) {
        if (name === names.at(-1)) throw names.length === 1 ? error : noDriver(error);
      }
    }
  }

  /**
   * The client of a node.
   *
   * @throws StoreError when a driver is needed and not installed
   * @throws ClosedError when the map is closed
   */
  of(node: ShardNode): Client {
    if (this.#isClosed)
      throw new ClosedError(`the map is closed: node ${node.address} has no client any more`);
    const known = this.#clients.get(node);
    if (known !== undefined) return known;
    const client = this.#create === undefined ? this.#make(node) : this.#create(node);
    this.#clients.set(node, client);
    return client;
  }

  /** Scripts of the library itself on a node, in text. The caller waits for `limit` ms. */
  scripts(node: ShardNode, limit: number): ScriptClient {
    const client = this.of(node);
    const made = this.#made.get(node);
    if (made === undefined) return textClient(client);
    return {
      evaluate: (command, script, keys, args) =>
        made.send(scriptParts(command, script, keys, args).map(String), { limit, inBytes: false }),
    };
  }

  /** Commands of the library itself on a node, in bytes. The caller waits for `limit` ms. */
  bytes(node: ShardNode, limit: number): BinaryClient {
    return { ...binaryClient(this.of(node)), ...this.#ownBytes(node, limit) };
  }

  /** The same for a Redis Cluster. */
  clusterBytes(node: ShardNode, limit: number): ClusterClient {
    return { ...clusterClient(this.of(node)), ...this.#ownBytes(node, limit) };
  }

  /** Commands in bytes on a client that was made here; on another one there is no time limit to set. */
  #ownBytes(node: ShardNode, limit: number): BinaryClient | undefined {
    const made = this.#made.get(node);
    if (made === undefined) return undefined;
    const send = (parts: readonly CommandPart[]) =>
      made.send(parts.map(bytesForDriver), { limit, inBytes: true });
    return {
      send: (...parts) => send(parts),
      evaluate: (...script) => send(scriptParts(...script)),
    };
  }

  /** Ends the clients that were made here. Clients of `createClient` stay open. */
  close(): void {
    this.#isClosed = true;
    for (const { end } of this.#made.values()) end();
    this.#made.clear();
  }

  #make(node: ShardNode): Client {
    this.#connect ??= requireDriver(this.#driverNames());
    const { logins, timeout } = this.#settings;
    const made = this.#connect(node, logins[node.index] as NodeLogin, timeout);
    this.#made.set(node, made);
    return made.client as Client;
  }

  #driverNames(): readonly DriverName[] {
    const { driver, logins } = this.#settings;
    if (driver !== undefined) return [driver];
    // Only `ioredis` finds nodes by Sentinels, and the nodes of a cluster by some of them.
    const needsIoredis = logins.some(({ sentinel, cluster }) => sentinel ?? cluster);
    return needsIoredis ? ['ioredis'] : DRIVERS;
  }
}

/** A script as a command. `ioredis` 5 finds the keys of a command, and so its slot in a cluster, by its name in lower case. */
function scriptParts(
  command: 'EVAL' | 'EVALSHA',
  script: string,
  keys: readonly CommandPart[],
  args: readonly CommandPart[],
): CommandPart[] {
  return [command.toLowerCase(), script, keys.length, ...keys, ...args];
}

async function loadDriver(name: DriverName): Promise<unknown> {
  try {
    return name === 'ioredis' ? await import('ioredis') : await import('redis');
  } catch (error) {
    throw packageError(name, error);
  }
}

function connectWith(name: DriverName, module: unknown): Connect {
  if (name === 'redis') return (...rest) => nodeRedisClient(module as NodeRedis, ...rest);
  return (node, login, timeout) =>
    login.cluster === undefined
      ? ioredisClient(module as Ioredis, node, login, timeout)
      : ioredisCluster(module as IoredisClusters, node, login, timeout);
}

/** Loads a driver without waiting, because `getClient` cannot wait. Works in Node, Bun and Deno. */
function requireDriver(names: readonly DriverName[]): Connect {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
  const module = process?.getBuiltinModule?.('module') as
    | { createRequire(url: string): (name: string) => unknown }
    | undefined;
  if (module === undefined)
    throw new StoreError(
      'the driver is not loaded yet: await genKey() before the first getClient(), or set createClient',
    );
  const require = module.createRequire(import.meta.url);
  let failure: unknown;
  for (const name of names) {
    try {
      return connectWith(name, require(name));
    } catch (error) {
      failure = error;
    }
  }
  throw noDriver(failure, names);
}

function noDriver(cause: unknown, names: readonly DriverName[] = DRIVERS): StoreError {
  return new StoreError(
    `the package ${names.join(' or ')} is needed and could not be loaded: npm install ${names[0]}`,
    { cause, reason: 'PACKAGE_MISSING' },
  );
}
