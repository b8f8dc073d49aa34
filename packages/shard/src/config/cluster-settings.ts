import { InvalidOptionError, refuse, requireKnown } from 'idsmith/internal';
import { AUTH_NAMES, type Auth, type NodeAddress, type NodeLogin, pickAuth, type ShardAuth } from './auth.js';
import { readEntry, readTls } from './shard-entry.js';

/** A Redis Cluster by some of its nodes, for a map that makes its own client of the package `ioredis`. */
export interface ShardCluster extends ShardAuth {
  /** URLs like `rediss://user:password@host:port`, or `[port, host]`. These nodes tell the addresses of all others. */
  readonly nodes: readonly (string | readonly [port: number | string, host: string])[];
  /** `true`, or options of `tls.connect` like `ca`, `cert` and `key`. Default: as in the URLs. */
  readonly tls?: boolean | Readonly<Record<string, unknown>>;
}

const NAMES = ['nodes', 'tls', ...AUTH_NAMES];

/** Tells whether the `cluster` of a config is an object with nodes, and not a client. */
export function isClusterSettings(cluster: unknown): cluster is ShardCluster {
  if (typeof cluster !== 'object' || cluster === null) return false;
  const prototype = Object.getPrototypeOf(cluster);
  return prototype === Object.prototype || prototype === null;
}

/**
 * Reads the `cluster` of a config. A client finds nodes by itself, so all nodes have one login.
 *
 * @param auth the login if the cluster has none of its own
 * @throws InvalidOptionError naming the part that is wrong, and never a password
 */
export function readClusterSettings(cluster: ShardCluster, auth: Auth): NodeLogin {
  requireKnown('cluster', cluster, NAMES);
  const { nodes, tls } = cluster;
  if (!Array.isArray(nodes) || nodes.length === 0)
    refuse('cluster.nodes', 'a list of URLs or [port, host]', nodes);
  const own = pickAuth('cluster', cluster);
  const common = own.user === undefined && own.password === undefined ? auth : own;
  const read = nodes.map((node: unknown, i: number) => readNode(`cluster.nodes[${i}]`, node, common));
  const [first] = read as [ReturnType<typeof readNode>];
  for (const [i, { login }] of read.entries())
    if (JSON.stringify(login) !== JSON.stringify(first.login))
      throw new InvalidOptionError(
        `cluster.nodes[${i}] has another login than cluster.nodes[0]: all nodes of a cluster take the same user, password and TLS`,
      );
  return {
    ...first.login,
    ...(tls !== undefined && { tls: readTls('cluster', tls) }),
    cluster: read.map(({ host, port }): NodeAddress => ({ host, port })),
  };
}

function readNode(option: string, node: unknown, auth: Auth) {
  const isPair = Array.isArray(node) && node.length === 2;
  // The message does not show the wrong value, because the value may be a URL with a password.
  if (typeof node !== 'string' && !isPair)
    throw new InvalidOptionError(
      `${option} must be a URL like rediss://user:password@host:6379, or [port, host]`,
    );
  const entry = readEntry(option, node as string, auth);
  if (entry.login.database !== 0)
    throw new InvalidOptionError(`${option} must be a URL without a database: a Redis Cluster has only one`);
  return entry;
}
