import { StoreError } from '../../errors.js';
import { redisError } from '../../redis/error.js';
import type { ShardNode } from '../shard-nodes.js';
import { hasLimit, noAnswer } from './command-limit.js';
import type { MadeClient, NodeLogin } from './login.js';

/** The part of the package `redis` that is used here. */
export interface NodeRedis {
  createClient(options: object): Client;
  readonly ErrorReply: new (...args: never[]) => Error;
}

interface Client {
  on(event: 'error' | 'ready', listener: (error: Error) => void): unknown;
  connect(): Promise<unknown>;
  destroy(): void;
}

type SendCommand = (args: readonly unknown[], options?: object) => Promise<unknown>;

/**
 * Makes a client of the package `redis`. Its commands fail within `timeout`, with a `StoreError` that names the node when the
 * node cannot be reached. Commands in a `multi` have no time limit. A command that the driver has not sent yet when it fails is
 * never sent.
 *
 * @throws StoreError when the node is found by Sentinels
 */
export function nodeRedisClient(
  { createClient, ErrorReply }: NodeRedis,
  node: ShardNode,
  login: NodeLogin,
  timeout: number,
): MadeClient {
  const { user, password, tls, database, sentinel } = login;
  if (sentinel !== undefined)
    throw new StoreError(
      `shards.${node.name} has Sentinels, which need the package ioredis: npm install ioredis`,
    );
  const socket = { host: node.host, port: node.port, connectTimeout: timeout };
  const client = createClient({
    socket: tls === false ? socket : { ...socket, ...(tls === true ? {} : tls), tls: true },
    ...(user !== undefined && { username: user }),
    ...(password !== undefined && { password }),
    database,
  });
  let connectionError: Error | undefined;
  /** Fails the commands that wait for an answer. */
  const waiting = new Set<(reason: Error) => void>();
  client.on('error', (error) => {
    connectionError = error;
    for (const fail of [...waiting]) fail(error);
  });
  client.on('ready', () => {
    connectionError = undefined;
  });

  /** @param send sends the command, and takes it back if the signal is aborted before the driver has sent it */
  const watch = (command: string, isLimited: boolean, send: (signal: AbortSignal) => Promise<unknown>) =>
    new Promise((resolve, reject) => {
      const controller = new AbortController();
      const fail = (error: Error) => {
        end();
        reject(
          error instanceof StoreError ? error : redisError(`node ${node.address}`, command, error, password),
        );
        controller.abort();
      };
      const timer = isLimited
        ? setTimeout(() => fail(noAnswer(node.address, command, timeout, connectionError)), timeout)
        : undefined;
      const end = () => {
        clearTimeout(timer);
        waiting.delete(fail);
      };
      waiting.add(fail);
      send(controller.signal).then(
        (reply) => {
          end();
          resolve(reply);
        },
        (error) => {
          // After a failed login, the reason of the failure says more than that a login is missing.
          const isLogin = /^(NOAUTH|WRONGPASS)/.test(String(error?.message));
          if (isLogin || !(error instanceof ErrorReply)) return fail(connectionError ?? error);
          end();
          return reject(error);
        },
      );
    });

  // The driver hands out an object that inherits from the real client, and so does every client that is derived from it.
  const shared = Object.getPrototypeOf(client) as { sendCommand: SendCommand };
  const { sendCommand } = shared;
  shared.sendCommand = function (this: unknown, args, options) {
    const [name, ...rest] = args;
    return watch(String(name), hasLimit(String(name), rest), (abortSignal) =>
      sendCommand.call(this, args, { abortSignal, ...options }),
    );
  };
  // The driver connects again and again. Commands wait for the connection, up to their time limit.
  client.connect().catch((error) => {
    connectionError = error;
  });
  return {
    client,
    end: () => {
      try {
        client.destroy();
      } catch {
        // The client was never open.
      }
    },
  };
}
