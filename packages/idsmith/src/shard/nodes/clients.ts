import { StoreError } from '../../errors.js';
import { refuse } from '../../options.js';
import { redisError } from '../../redis/error.js';
import { packageError } from '../../support/load-package.js';
import type { ShardSettings } from '../config.js';
import type { ShardNode } from '../shard-nodes.js';

/** The part of the package `ioredis` that is used here. */
interface Ioredis {
  readonly Redis: new (
    options: object,
  ) => {
    on(event: 'error' | 'ready', listener: (error: Error) => void): unknown;
    disconnect(): void;
    sendCommand(command: Command, ...more: unknown[]): unknown;
  };
}

interface Command {
  readonly name: string;
  reject: (error: Error) => void;
}

/** An error that the server answered with. */
interface ReplyError extends Error {
  readonly command?: { readonly name?: string };
}

/** The clients of the nodes. Each client is made on first use. */
export class NodeClients<Client> {
  readonly #settings: ShardSettings;
  readonly #create: ((node: ShardNode) => Client) | undefined;
  readonly #made = new Map<ShardNode, Client>();
  readonly #ends: (() => void)[] = [];
  #ioredis: Ioredis | undefined;
  #isClosed = false;

  constructor(settings: ShardSettings, create: ((node: ShardNode) => Client) | undefined) {
    if (create !== undefined && typeof create !== 'function') refuse('createClient', 'a function', create);
    this.#settings = settings;
    this.#create = create;
  }

  /** Loads `ioredis`, unless `createClient` makes the clients. */
  async load(): Promise<void> {
    if (this.#create !== undefined || this.#ioredis !== undefined) return;
    try {
      this.#ioredis = (await import('ioredis')) as unknown as Ioredis;
    } catch (error) {
      throw packageError('ioredis', error);
    }
  }

  /**
   * The client of a node.
   *
   * @throws StoreError when `ioredis` is needed and not installed, or the map is closed
   */
  of(node: ShardNode): Client {
    if (this.#isClosed)
      throw new StoreError(`the map is closed: node ${node.address} has no client any more`);
    const made = this.#made.get(node);
    if (made !== undefined) return made;
    const client = this.#create === undefined ? this.#connect(node) : this.#create(node);
    this.#made.set(node, client);
    return client;
  }

  /** Ends the clients that were made here. Clients of `createClient` stay open. */
  close(): void {
    this.#isClosed = true;
    for (const end of this.#ends.splice(0)) end();
  }

  #connect(node: ShardNode): Client {
    const { Redis } = this.#ioredis ?? requireIoredis();
    const settings = this.#settings;
    const { user, password, timeout } = settings;
    let connectionError: Error | undefined;

    /** A client whose commands fail with a `StoreError` that names the node when the node cannot be reached. */
    class NodeClient extends Redis {
      override sendCommand(command: Command, ...more: unknown[]): unknown {
        const { reject } = command;
        command.reject = (error) => {
          // Errors that the server answered with and errors that already name the node are kept. The answer to a failed
          // login reaches every waiting command. That error shows the password, so it is replaced.
          const isReply = (error as ReplyError)?.command?.name === command.name;
          if (isReply || error instanceof StoreError) reject(error);
          // The reason why connecting failed says more than the message that there is no connection.
          else reject(redisError(`node ${node.address}`, command.name, connectionError ?? error, password));
        };
        return super.sendCommand(command, ...more);
      }
    }

    const client = new NodeClient({
      ...{ host: node.host, port: node.port },
      ...(user !== undefined && { username: user }),
      ...(password !== undefined && { password }),
      lazyConnect: true,
      connectTimeout: timeout,
      maxRetriesPerRequest: 1,
      // By default an ended client whose connection is lost keeps the process alive for two seconds.
      disconnectTimeout: 100,
    });
    client.on('error', (error) => {
      connectionError = error;
    });
    client.on('ready', () => {
      connectionError = undefined;
    });
    this.#ends.push(() => client.disconnect());
    return client as Client;
  }
}

/** Loads `ioredis` without waiting, because `getClient` cannot wait. Works in Node, Bun and Deno. */
function requireIoredis(): Ioredis {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
  const module = process?.getBuiltinModule?.('module') as
    | { createRequire(url: string): (name: string) => unknown }
    | undefined;
  try {
    if (module !== undefined) return module.createRequire(import.meta.url)('ioredis') as Ioredis;
  } catch (cause) {
    throw new StoreError('the package ioredis is needed and could not be loaded: npm install ioredis', {
      cause,
    });
  }
  throw new StoreError(
    'ioredis is not loaded yet: await genKey() before the first getClient(), or set createClient',
  );
}
