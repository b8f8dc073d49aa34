import { StoreError } from '../../errors.js';
import { redisError } from '../../redis/error.js';
import { limitOf, noAnswer } from '../nodes/command-limit.js';
import type { IoredisCommand } from '../nodes/ioredis-driver.js';
import type { MadeClient, NodeLogin } from '../nodes/login.js';
import type { ShardNode } from '../shard-nodes.js';

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
}

/**
 * Makes a client of a Redis Cluster with the package `ioredis`. Its commands fail within `timeout`, with a `StoreError`, when the
 * cluster cannot be reached.
 */
export function ioredisCluster(
  { Cluster }: IoredisClusters,
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
        watch(command);
      }
      return super.sendCommand(command, ...more);
    }
  }

  /** The driver puts its own `resolve` and `reject` over these, and calls these in the end. */
  function watch(command: IoredisCommand): void {
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
    const { limit, isCallers } = limitOf(command.name, command.args, timeout);
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
  return { client, end: () => client.disconnect() };
}
