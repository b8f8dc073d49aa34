import { redisError, StoreError } from 'idsmith/internal';
import type { NodeLogin } from '../config/auth.js';
import type { ShardNode } from '../config/shard-nodes.js';
import { AnswerWatch, type CommandLimit, limitOf, type MadeClient, unanswered } from './made-client.js';

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
type MakeCommand = new (
  name: string,
  args: readonly unknown[],
  options: { readonly replyEncoding: 'utf8' | null },
) => IoredisCommand;

/** A command of the package `ioredis` on its way. */
interface IoredisCommand {
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
  const { password, database, sentinel } = login;
  let connectionError: Error | undefined;
  /** A connection was given up because nothing was answered on it, and there is no other one yet. */
  let isSilent = false;
  const answers = new AnswerWatch(() => {
    isSilent = true;
    client.disconnect(true);
  });

  class NodeClient extends Redis {
    override sendCommand(command: IoredisCommand, ...more: unknown[]): unknown {
      watch(command);
      return super.sendCommand(command, ...more);
    }
  }

  const watch = once(timeout, (command, { limit, isCallers }) => {
    const { resolve, reject } = command;
    const answered = answers.sent({
      limit,
      late: () =>
        isCallers || command.reject(unanswered(node.address, command.name, timeout, connectionError)),
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
      else if (isSilent && connectionError === undefined)
        reject(unanswered(node.address, command.name, timeout));
      else reject(redisError(`node ${node.address}`, command.name, connectionError ?? error, password));
    };
  });

  const client = new NodeClient({
    ...(sentinel === undefined
      ? { host: node.host, port: node.port }
      : {
          sentinels: sentinel.nodes.map(({ host, port }) => ({ host, port })),
          name: sentinel.master,
          ...(sentinel.user !== undefined && { sentinelUsername: sentinel.user }),
          ...(sentinel.password !== undefined && { sentinelPassword: sentinel.password }),
        }),
    ...loginOf(login),
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
    isSilent = false;
  });
  return {
    client,
    send: sendingOn(client, Command, watch),
    end: () => client.disconnect(),
  };
}

/** The part of the package `ioredis` that a cluster needs. */
export interface IoredisClusters {
  readonly Cluster: new (
    nodes: readonly object[],
    options: object,
  ) => {
    on(event: 'error' | 'node error' | 'ready', listener: (error: Error) => void): unknown;
    disconnect(): void;
    sendCommand(command: IoredisCommand, ...more: unknown[]): unknown;
  };
  readonly Command: MakeCommand;
}

/**
 * Makes a client of a Redis Cluster with the package `ioredis`. Its commands fail within `timeout`, with a `StoreError`, when the
 * cluster cannot be reached.
 */
export function ioredisCluster(
  { Cluster, Command }: IoredisClusters,
  node: ShardNode,
  login: NodeLogin,
  timeout: number,
): MadeClient {
  const { cluster = [], password, tls } = login;
  /** Fails the commands that wait for an answer. */
  const waiting = new Set<(reason: Error) => void>();
  let nodeError: Error | undefined;

  class ClusterClient extends Cluster {
    override sendCommand(command: IoredisCommand, ...more: unknown[]): unknown {
      watch(command);
      return super.sendCommand(command, ...more);
    }
  }

  /** The driver puts its own `resolve` and `reject` over these, and calls these in the end. */
  const watch = once(timeout, (command, { limit, isCallers }) => {
    const { resolve, reject } = command;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = () => {
      clearTimeout(timer);
      waiting.delete(fail);
    };
    const fail = (error: Error) => {
      end();
      const isReply = (error as { command?: { name?: string } }).command?.name === command.name;
      if (isReply || error instanceof StoreError) reject(error);
      else reject(redisError(`node ${node.address}`, command.name, nodeError ?? error, password));
    };
    command.resolve = (reply) => {
      end();
      resolve(reply);
    };
    command.reject = fail;
    waiting.add(fail);
    if (limit !== undefined && !isCallers)
      timer = setTimeout(() => fail(unanswered(node.address, command.name, timeout, nodeError)), limit);
  });

  const client = new ClusterClient(
    cluster.map(({ host, port }) => ({ host, port })),
    {
      lazyConnect: true,
      // Certificates have the names of hosts, so names are not turned into addresses.
      ...(tls !== false && {
        dnsLookup: (name: string, done: (error: null, address: string) => void) => done(null, name),
      }),
      redisOptions: {
        ...loginOf(login),
        connectTimeout: timeout,
        disconnectTimeout: 100,
      },
    },
  );
  client.on('node error', (error) => {
    nodeError = error;
  });
  client.on('ready', () => {
    nodeError = undefined;
  });
  // The driver has asked all nodes, and will ask them again. It does not tell why it cannot connect.
  client.on('error', (error) => {
    const reason = nodeError ?? error;
    const isClosed = reason.message.startsWith('Connection is closed');
    const addresses = cluster.map(({ host, port }) => `${host}:${port}`).join(', ');
    nodeError = isClosed ? new Error(`nobody answers at ${addresses}`) : reason;
    for (const fail of [...waiting]) fail(nodeError);
  });
  return {
    client,
    send: sendingOn(client, Command, watch),
    end: () => client.disconnect(),
  };
}

/** Watches a command on its way to the server. By default, the command has the limit of one that a user sends. */
type Watch = (command: IoredisCommand, limit?: CommandLimit) => void;

/** Watches each command once: the driver sends it again when the connection is there, and after a redirection. */
function once(timeout: number, watch: (command: IoredisCommand, limit: CommandLimit) => void): Watch {
  const seen = new WeakSet<IoredisCommand>();
  return (command, limit) => {
    if (seen.has(command)) return;
    seen.add(command);
    watch(command, limit ?? limitOf(command.name, command.args, timeout));
  };
}

/** Sends the map's own commands. Their callers wait no longer than `limit`. */
function sendingOn(
  client: { sendCommand(command: IoredisCommand): unknown },
  Command: MakeCommand,
  watch: Watch,
): MadeClient['send'] {
  return async ([name, ...args], { limit, inBytes }) => {
    const command = new Command(String(name), args, { replyEncoding: inBytes ? null : 'utf8' });
    watch(command, { limit, isCallers: true });
    return client.sendCommand(command);
  };
}

const loginOf = ({ user, password, tls }: NodeLogin) => ({
  ...(user !== undefined && { username: user }),
  ...(password !== undefined && { password }),
  ...(tls !== false && { tls: tls === true ? {} : tls }),
});
