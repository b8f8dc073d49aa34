import { redisError, StoreError } from 'idsmith/internal';
import type { NodeLogin } from '../config/login.js';
import type { ShardNode } from '../config/shard-nodes.js';
import type { IoredisCommand, MakeCommand } from './ioredis.js';
import { type CommandLimit, limitOf, type MadeClient, noAnswer } from './made-client.js';

/** The part of the package `ioredis` that is used here. */
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
  { cluster = [], user, password, tls }: NodeLogin,
  timeout: number,
): MadeClient {
  const seen = new WeakSet<IoredisCommand>();
  /** Fails the commands that wait for an answer. */
  const waiting = new Set<(reason: Error) => void>();
  let nodeError: Error | undefined;

  class ClusterClient extends Cluster {
    override sendCommand(command: IoredisCommand, ...more: unknown[]): unknown {
      // A command is sent again after a redirection, and when the connection is there.
      if (!seen.has(command)) {
        seen.add(command);
        watch(command, limitOf(command.name, command.args, timeout));
      }
      return super.sendCommand(command, ...more);
    }
  }

  /** The driver puts its own `resolve` and `reject` over these, and calls these in the end. */
  function watch(command: IoredisCommand, { limit, isCallers }: CommandLimit): void {
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
      timer = setTimeout(() => fail(noAnswer(node.address, command.name, timeout, nodeError)), limit);
  }

  const client = new ClusterClient(
    cluster.map(({ host, port }) => ({ host, port })),
    {
      lazyConnect: true,
      // Certificates have the names of hosts, so names are not turned into addresses.
      ...(tls !== false && {
        dnsLookup: (name: string, done: (error: null, address: string) => void) => done(null, name),
      }),
      redisOptions: {
        ...(user !== undefined && { username: user }),
        ...(password !== undefined && { password }),
        ...(tls !== false && { tls: tls === true ? {} : tls }),
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
    async send([name, ...args], { limit, inBytes }) {
      const command = new Command(String(name), args, { replyEncoding: inBytes ? null : 'utf8' });
      seen.add(command);
      watch(command, { limit, isCallers: true });
      return client.sendCommand(command);
    },
    end: () => client.disconnect(),
  };
}
