import { InvalidOptionError, StoreError } from '../../errors.js';
import { type IoredisClient, type NodeRedisClient, textClient } from '../../redis/client.js';
import { isMissing, packageError } from '../../support/load-package.js';
import type { Connection } from './own-client.js';

/** Where a Redis is. */
export interface RedisTarget {
  /** The URL without a database. */
  readonly url: string;
  /** The number of the database. */
  readonly database: number;
}

/** The driver's own wait for a connection, ms. */
export const CONNECT_TIMEOUT = 4000;

/** Starts one connection. A driver must not connect again by itself. */
export function beginConnection(
  driver: RedisDriver,
  { url, database }: RedisTarget,
): { ready: Promise<unknown>; connection: Connection } {
  const { client, connect, isUp, unref, end } =
    driver.name === 'redis' ? nodeRedis(driver, url) : ioredis(driver, url);
  const ready = async () => {
    await connect();
    // The limit of time of a call under way keeps the process alive, and nothing else, as on every store.
    unref();
    if (database !== 0) await select(client, database);
  };
  const { evaluate } = textClient(client);
  let isEnded = false;
  return {
    ready: ready(),
    connection: {
      evaluate,
      get isUp() {
        return !isEnded && isUp();
      },
      end() {
        isEnded = true;
        end();
      },
    },
  };
}

/** The differences between the drivers. */
interface Driven {
  readonly client: (NodeRedisClient | IoredisClient) & { select(database: number): Promise<unknown> };
  connect(): Promise<unknown>;
  /** Sends any command. */
  send(...parts: string[]): Promise<unknown>;
  isUp(): boolean;
  /** Lets the process end while the connection is idle. */
  unref(): void;
  end(): void;
}

/** A client of the package `redis` that does not connect again by itself. */
export function nodeRedis({ redis }: RedisDriver & { name: 'redis' }, url: string): Driven {
  const client = redis.createClient({
    url,
    // Redis 5 knows no other protocol.
    RESP: 2,
    socket: { connectTimeout: CONNECT_TIMEOUT, reconnectStrategy: false },
  });
  // Errors surface from the failing call. Without a listener they would end the process.
  client.on('error', () => {});
  return {
    client: client as unknown as Driven['client'],
    connect: () => client.connect(),
    send: (...parts) => client.sendCommand(parts),
    isUp: () => client.isReady,
    unref: () => client.unref(),
    end: () => {
      if (client.isOpen) client.destroy();
    },
  };
}

/** A client of the package `ioredis` that does not connect again by itself. */
export function ioredis({ ioredis: { Redis } }: RedisDriver & { name: 'ioredis' }, url: string): Driven {
  const client = new Redis(url, {
    lazyConnect: true,
    connectTimeout: CONNECT_TIMEOUT,
    retryStrategy: () => null,
    autoResendUnfulfilledCommands: false,
  });
  // The rejection of connect() says only that the connection is closed. The event says why.
  let reason: unknown;
  client.on('error', (error) => {
    reason = error;
  });
  return {
    client,
    async connect() {
      try {
        await client.connect();
        // ioredis 5 is ready before it knows that the password is wrong.
        await client.ping();
      } catch (error) {
        throw reason ?? error;
      }
      if (reason !== undefined) throw reason;
    },
    send: (command = '', ...parts) => client.call(command, ...parts),
    isUp: () => client.status === 'ready',
    unref: () => (client.stream as { unref?(): void }).unref?.(),
    end: () => client.disconnect(),
  };
}

/** @throws InvalidOptionError when the server has no database of this number */
async function select(client: Driven['client'], database: number): Promise<void> {
  try {
    await client.select(database);
  } catch (error) {
    const { message = '' } = (error ?? {}) as { message?: string };
    if (!message.startsWith('ERR')) throw error;
    throw new InvalidOptionError(
      `the database of a Redis URL must be one that the server has: it refuses ${database} (${message})`,
    );
  }
}

/** A driver of Redis that is installed: the name of its package, and the package. */
export type RedisDriver =
  | { readonly name: 'redis'; readonly redis: typeof import('redis') }
  | { readonly name: 'ioredis'; readonly ioredis: Pick<typeof import('ioredis'), 'Redis' | 'Cluster'> };

/**
 * Loads the package `redis`, or `ioredis` where `redis` is not installed.
 *
 * @throws StoreError naming both packages if neither is installed, or the one that does not load
 */
export async function loadRedisDriver(): Promise<RedisDriver> {
  try {
    return { name: 'redis', redis: await import('redis') };
  } catch (error) {
    if (!isMissing('redis', error)) throw packageError('redis', error);
  }
  try {
    return { name: 'ioredis', ioredis: await import('ioredis') };
  } catch (error) {
    if (!isMissing('ioredis', error)) throw packageError('ioredis', error);
    throw new StoreError(
      'the package redis or the package ioredis is needed, and neither is installed: npm install redis',
      { cause: error, reason: 'PACKAGE_MISSING' },
    );
  }
}
