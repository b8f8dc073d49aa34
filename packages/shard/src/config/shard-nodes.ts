import { InvalidOptionError, refuse, requireInteger } from 'idsmith/internal';
import { VARIANTS } from '../keys/codec.js';
import { MAX_WEIGHT } from '../ring/hash-ring.js';
import type { Auth, NodeLogin } from './auth.js';
import { readEntry, requireText, type ShardEntry, toNumber } from './shard-entry.js';

/** A Redis node of a map. */
export interface ShardNode {
  /** The name of the node in `shards`: `0`, `1`, … */
  readonly name: string;
  /** The position among the nodes: the virtual shard whose milliseconds the node mints. */
  readonly index: number;
  /** `host:port`: the place where the server is now. */
  readonly address: string;
  readonly host: string;
  readonly port: number;
  readonly weight: number;
  /** The name that places the node on the ring. It never changes, even when the server gets another address. */
  readonly ringName: string;
}

/** The nodes of a config, and their logins in the same order. */
export interface NodesAndLogins {
  readonly nodes: readonly ShardNode[];
  readonly logins: readonly NodeLogin[];
}

/** The only node of a Redis Cluster. If its client comes from the user, the user has logged in. */
export const CLUSTER: NodesAndLogins = {
  nodes: [
    {
      name: 'cluster',
      index: 0,
      address: 'cluster',
      host: '',
      port: 0,
      weight: 1,
      ringName: 'cluster',
    },
  ],
  logins: [{ user: undefined, password: undefined, tls: false, database: 0, sentinel: undefined }],
};

/**
 * Reads the nodes of `shards`.
 *
 * @param auth the login of nodes that have none of their own
 * @throws InvalidOptionError naming the entry that is wrong, and never a password
 */
export function readShards(shards: object, auth: Auth): NodesAndLogins {
  if (typeof shards !== 'object' || shards === null)
    refuse('shards', 'an object of [port, host, weight]', shards);
  const entries = Object.entries(shards as Record<string, ShardEntry>);
  if (entries.length < 1 || entries.length > VARIANTS)
    refuse('shards', `1 to ${VARIANTS} nodes`, entries.length);
  const read = entries.map(([name, entry], index) => readNode(name, entry, index, auth));
  const nodes = read.map(({ node }) => node);
  refuseTwins(nodes, 'address', 'give every node its own address');
  refuseTwins(nodes, 'ringName', 'give every node its own ringName');
  return { nodes, logins: read.map(({ login }) => login) };
}

function readNode(name: string, entry: ShardEntry, index: number, auth: Auth) {
  const { host, port, address, login, weight, ringName } = readEntry(`shards.${name}`, entry, auth);
  const node: ShardNode = {
    name,
    index,
    address,
    host,
    port,
    weight: requireInteger(`the weight of shards.${name}`, toNumber(weight ?? 1), 1, MAX_WEIGHT),
    ringName: requireText(`the ringName of shards.${name}`, ringName ?? address),
  };
  return { node, login };
}

function refuseTwins(nodes: readonly ShardNode[], field: 'address' | 'ringName', advice: string): void {
  const seen = new Map<string, ShardNode>();
  for (const node of nodes) {
    const twin = seen.get(node[field]);
    if (twin !== undefined)
      throw new InvalidOptionError(
        `shards.${node.name} has the ${field} of shards.${twin.name}, ${node[field]}: ${advice}`,
      );
    seen.set(node[field], node);
  }
}
