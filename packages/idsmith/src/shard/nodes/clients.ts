import { ClosedError, StoreError } from '../../errors.js';
import { refuse } from '../../options.js';
import { packageError } from '../../support/load-package.js';
import { type IoredisClusters, ioredisCluster } from '../cluster/ioredis-cluster.js';
import type { ShardSettings } from '../config.js';
import type { ShardNode } from '../shard-nodes.js';
import { type Ioredis, ioredisClient } from './ioredis-driver.js';
import type { MadeClient, NodeLogin } from './login.js';
import { type NodeRedis, nodeRedisClient } from './node-redis-driver.js';

/** A package that talks to Redis. */
export type DriverName = 'ioredis' | 'redis';

/** Makes a client of a node with a driver that is loaded. */
type Connect = (node: ShardNode, login: NodeLogin, timeout: number) => MadeClient;

/** The drivers, the preferred one first. Code that uses `getClient` is written for one driver, so the order must not change. */
const DRIVERS: readonly DriverName[] = ['ioredis', 'redis'];

/** The clients of the nodes. Each client is made on first use. */
export class NodeClients<Client> {
  readonly #settings: ShardSettings;
  readonly #create: ((node: ShardNode) => Client) | undefined;
  readonly #made = new Map<ShardNode, Client>();
  readonly #ends: (() => void)[] = [];
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
    const made = this.#made.get(node);
    if (made !== undefined) return made;
    const client = this.#create === undefined ? this.#make(node) : this.#create(node);
    this.#made.set(node, client);
    return client;
  }

  /** Ends the clients that were made here. Clients of `createClient` stay open. */
  close(): void {
    this.#isClosed = true;
    for (const end of this.#ends.splice(0)) end();
  }

  #make(node: ShardNode): Client {
    this.#connect ??= requireDriver(this.#driverNames());
    const { logins, timeout } = this.#settings;
    const { client, end } = this.#connect(node, logins[node.index] as NodeLogin, timeout);
    this.#ends.push(end);
    return client as Client;
  }

  #driverNames(): readonly DriverName[] {
    const { driver } = this.#settings;
    return driver === undefined ? DRIVERS : [driver];
  }
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
    { cause },
  );
}
