import { redisError, StoreError } from 'idsmith/internal';
import type { NodeLogin } from '../config/login.js';
import type { ShardNode } from '../config/shard-nodes.js';
import { AnswerWatch } from './answer-watch.js';
import { type CommandLimit, limitOf, type MadeClient, noAnswer } from './made-client.js';

/** The part of the package `ioredis` that is used here. */
export interface Ioredis {
  readonly Redis: new (
    options: object,
  ) => {
    on(event: 'error' | 'ready', listener: (error: Error) => void): unknown;
    disconnect(reconnect?: boolean): void;
    sendCommand(command: IoredisCommand, ...more: unknown[]): unknown;
  };
  readonly Command: MakeCommand;
}

/** The class of commands of the package `ioredis`. With `null`, text in the reply comes as bytes. */
export type MakeCommand = new (
  name: string,
  args: readonly unknown[],
  options: { readonly replyEncoding: 'utf8' | null },
) => IoredisCommand;

/** A command of the package `ioredis` on its way. */
export interface IoredisCommand {
  readonly name: string;
  readonly args: readonly unknown[];
  resolve: (reply: unknown) => void;
  reject: (error: Error) => void;
}

/** An error that the server answered with. */
interface ReplyError extends Error {
  readonly command?: { readonly name?: string };
}

/**
 * Makes a client of the package `ioredis`. Its commands fail within `timeout`, with a `StoreError` that names the node when the
 * node cannot be reached. A connection on which nothing is answered is replaced.
 */
export function ioredisClient(
  { Redis, Command }: Ioredis,
  node: ShardNode,
  login: NodeLogin,
  timeout: number,
): MadeClient {
  const { user, password, tls, database, sentinel } = login;
  const seen = new WeakSet<IoredisCommand>();
  const answers = new AnswerWatch(() => client.disconnect(true));
  let connectionError: Error | undefined;

  class NodeClient extends Redis {
    override sendCommand(command: IoredisCommand, ...more: unknown[]): unknown {
      // A command that waits for the connection is sent again when the connection is there.
      if (!seen.has(command)) {
        seen.add(command);
        watch(command, limitOf(command.name, command.args, timeout));
      }
      return super.sendCommand(command, ...more);
    }
  }

  function watch(command: IoredisCommand, { limit, isCallers }: CommandLimit): void {
    const { resolve, reject } = command;
    const answered = answers.sent({
      limit,
      late: () => isCallers || command.reject(noAnswer(node.address, command.name, timeout, connectionError)),
    });
    // Not `promise.then`: a rejection that nobody handles must stay visible as such.
    command.resolve = (reply) => {
      answered();
      resolve(reply);
    };
    command.reject = (error) => {
      answered();
      // Errors that the server answered with and errors that already name the node are kept. The answer to a failed
      // login reaches every waiting command. That error shows the password, so it is replaced.
      const isReply = (error as ReplyError)?.command?.name === command.name;
      if (isReply || error instanceof StoreError) reject(error);
      // The reason why connecting failed says more than the message that there is no connection.
      else reject(redisError(`node ${node.address}`, command.name, connectionError ?? error, password));
    };
  }

  const client = new NodeClient({
    ...(sentinel === undefined
      ? { host: node.host, port: node.port }
      : {
          sentinels: sentinel.nodes.map(({ host, port }) => ({ host, port })),
          name: sentinel.master,
          ...(sentinel.user !== undefined && { sentinelUsername: sentinel.user }),
          ...(sentinel.password !== undefined && { sentinelPassword: sentinel.password }),
        }),
    ...(user !== undefined && { username: user }),
    ...(password !== undefined && { password }),
    ...(tls !== false && { tls: tls === true ? {} : tls }),
    db: database,
    lazyConnect: true,
    connectTimeout: timeout,
    maxRetriesPerRequest: 1,
    // By default an ended client whose connection is lost keeps the process alive for two seconds.
    disconnectTimeout: 100,
  });
  client.on('error', (error) => {
    // A login without an answer tells no more than that there is none.
    connectionError = error instanceof StoreError ? undefined : error;
  });
  client.on('ready', () => {
    connectionError = undefined;
  });
  return {
    client,
    async send([name, ...args], { limit, inBytes }) {
      const command = new Command(String(name), args, { replyEncoding: inBytes ? null : 'utf8' });
      seen.add(command);
      watch(command, { limit, isCallers: true });
      return client.sendCommand(command);
    },
    end: () => client.disconnect(),
  };
}
