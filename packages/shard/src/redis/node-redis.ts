import { redisError, StoreError } from 'idsmith/internal';
import type { NodeLogin } from '../config/auth.js';
import type { ShardNode } from '../config/shard-nodes.js';
import { AnswerWatch, type CommandLimit, limitOf, type MadeClient, unanswered } from './made-client.js';

/** The part of the package `redis` that is used here. */
export interface NodeRedis {
  createClient(options: object): Client;
  readonly ErrorReply: new (...args: never[]) => Error;
}

interface Client {
  on(event: 'error' | 'ready', listener: (error: Error) => void): unknown;
  readonly isReady: boolean;
  connect(): Promise<unknown>;
  destroy(): void;
}

/** The option for text replies, whose first byte is `$`, in bytes. */
const IN_BYTES = { typeMapping: { 36: Buffer } };

/** The longest pause between two attempts to connect, ms. */
const MAX_PAUSE = 1000;

type SendCommand = (args: readonly unknown[], options?: object) => Promise<unknown>;

/**
 * Makes a client of the package `redis`. Its commands fail within `timeout`, with a `StoreError` that names the node when the
 * node cannot be reached. A connection on which nothing is answered is replaced. Commands in a `multi` have no time limit. A command that the driver has not sent yet when it fails is
 * never sent.
 *
 * @throws StoreError when the node is found by Sentinels, or is a Redis Cluster
 */
export function nodeRedisClient(
  { createClient, ErrorReply }: NodeRedis,
  node: ShardNode,
  login: NodeLogin,
  timeout: number,
): MadeClient {
  const { user, password, tls, database, sentinel, cluster } = login;
  if (sentinel !== undefined)
    throw new StoreError(
      `shards.${node.name} has Sentinels, which need the package ioredis: npm install ioredis`,
      { reason: 'PACKAGE_MISSING' },
    );
  if (cluster !== undefined)
    throw new StoreError(
      'cluster.nodes needs the package ioredis: npm install ioredis. Or give a connected client of createCluster as cluster',
      { reason: 'PACKAGE_MISSING' },
    );
  const socket = {
    host: node.host,
    port: node.port,
    connectTimeout: timeout,
    reconnectStrategy: (retries: number) => Math.min(50 * 2 ** retries, MAX_PAUSE) * (1 - Math.random() / 4),
  };
  const client = createClient({
    socket: tls === false ? socket : { ...socket, ...(tls === true ? {} : tls), tls: true },
    ...(user !== undefined && { username: user }),
    ...(password !== undefined && { password }),
    database,
  });
  let connectionError: Error | undefined;
  /** A connection was given up because nothing was answered on it, and there is no other one yet. */
  let isSilent = false;
  /** Fails the commands that wait for an answer. */
  const waiting = new Set<(reason: Error) => void>();
  client.on('error', (error) => {
    connectionError = error;
    for (const fail of [...waiting]) fail(error);
  });
  client.on('ready', () => {
    connectionError = undefined;
    isSilent = false;
  });

  let isEnded = false;
  // The driver connects again and again. Commands wait for the connection, up to their time limit.
  const connect = () => {
    if (!isEnded)
      client.connect().catch((error) => {
        connectionError = error;
      });
  };
  const destroy = () => {
    try {
      client.destroy();
    } catch {
      // The client was never open.
    }
  };
  const answers = new AnswerWatch(() => {
    const { isReady } = client;
    isSilent = true;
    destroy();
    // The driver may be connecting. It gives up after its next pause, and must not go on beside another attempt.
    if (isReady) connect();
    else setTimeout(connect, 1.2 * MAX_PAUSE);
  });

  /** @param send sends the command, and takes it back if the signal is aborted before the driver has sent it */
  const watch = (
    command: string,
    { limit, isCallers }: CommandLimit,
    send: (signal: AbortSignal) => Promise<unknown>,
  ) =>
    new Promise((resolve, reject) => {
      const controller = new AbortController();
      const fail = (error: Error) => {
        end();
        reject(
          error instanceof StoreError ? error : redisError(`node ${node.address}`, command, error, password),
        );
        controller.abort();
      };
      const answered = answers.sent({
        limit,
        late: () => isCallers || fail(unanswered(node.address, command, timeout, connectionError)),
      });
      const end = () => {
        answered();
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
          if (isLogin || !(error instanceof ErrorReply)) {
            // The driver only tells that there is no connection.
            const silence = isSilent && !isLogin ? unanswered(node.address, command, timeout) : error;
            return fail(connectionError ?? silence);
          }
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
    return watch(String(name), limitOf(String(name), rest, timeout), (abortSignal) =>
      sendCommand.call(this, args, { abortSignal, ...options }),
    );
  };
  connect();
  return {
    client,
    send: (parts, { limit, inBytes }) =>
      watch(String(parts[0]), { limit, isCallers: true }, (abortSignal) =>
        sendCommand.call(client, parts, { abortSignal, ...(inBytes && IN_BYTES) }),
      ),
    end: () => {
      isEnded = true;
      destroy();
    },
  };
}
