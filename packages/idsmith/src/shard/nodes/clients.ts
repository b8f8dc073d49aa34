import { StoreError } from '../../errors.js';
import { refuse } from '../../options.js';
import { loadDriver } from '../../stores/driver.js';
import type { ShardNode, ShardSettings } from '../config.js';

/**
 * A client of the package `ioredis`, the default, or of `redis`. Its commands have no types, since neither package need be
 * installed; `new ShardMap<Redis>(…)` gives them theirs.
 */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type AnyClient = any;

/** What is needed of `ioredis`, and of what it makes. */
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

interface ReplyError extends Error {
  /** What was answered. */
  readonly command?: { readonly name?: string };
}

/** The client of each node, made when it is first asked for. */
export class Clients<Client> {
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

  /** Loads `ioredis`, if it is needed. */
  async load(): Promise<void> {
    if (this.#create !== undefined || this.#ioredis !== undefined) return;
    this.#ioredis = (await loadDriver('ioredis', () => import('ioredis'))) as unknown as Ioredis;
  }

  /**
   * The client of a node.
   *
   * @throws StoreError when `ioredis` is needed and not installed, or the map was closed
   */
  of(node: ShardNode): Client {
    if (this.#isClosed) throw new StoreError(`the map was closed: there is no client of node ${node.name}`);
    const made = this.#made.get(node);
    if (made !== undefined) return made;
    const client = this.#create === undefined ? this.#connect(node) : this.#create(node);
    this.#made.set(node, client);
    return client;
  }

  /** Ends the clients that were made here; those of `createClient` are their maker's. */
  close(): void {
    this.#isClosed = true;
    for (const end of this.#ends.splice(0)) end();
  }

  #connect(node: ShardNode): Client {
    const { Redis } = this.#ioredis ?? requireIoredis();
    const settings = this.#settings;
    const { user, password, timeout } = settings;
    let trouble: Error | undefined;

    /** A client of which every command tells by the node's name that the node cannot be reached. */
    class NodeClient extends Redis {
      override sendCommand(command: Command, ...more: unknown[]): unknown {
        const { reject } = command;
        command.reject = (error) => {
          // What the server has answered, and what was explained before, stays what it is. The answer to a login,
          // which every command gets that waits for it, does not: it shows the password.
          const isAnswer = (error as ReplyError)?.command?.name === command.name;
          if (isAnswer || error instanceof StoreError) reject(error);
          // That the last connection was refused says more than that there is none.
          else reject(nodeError(node, command.name, trouble ?? error, settings));
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
      // Else a client whose connection is gone keeps the process alive for two seconds after it was ended.
      disconnectTimeout: 100,
    });
    client.on('error', (error) => {
      trouble = error;
    });
    client.on('ready', () => {
      trouble = undefined;
    });
    this.#ends.push(() => client.disconnect());
    return client as Client;
  }
}

/** The `StoreError` for what a driver has thrown, naming the node and nothing of how to log in to it. */
export function nodeError(
  node: ShardNode,
  what: string,
  error: unknown,
  { password }: ShardSettings,
): StoreError {
  const { message, code } = (error ?? {}) as { message?: string; code?: unknown };
  const shown = (message || String(code ?? error)).replace(/:\/\/[^\s@/]*@/g, '://***@');
  const reason = password === undefined ? shown : shown.replaceAll(password, '***');
  // Not the driver's own error: that of a failed login holds the password among its arguments.
  const cause = Object.assign(new Error(reason), typeof code === 'string' && { code });
  return new StoreError(`node ${node.name}: ${what} failed: ${reason}`, { cause });
}

/** `getClient` cannot wait for an import. In Node, Bun and Deno it need not: the package can be required. */
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
  throw new StoreError('there is no client yet: call genKey() first, or give createClient');
}
