import { InvalidOptionError } from '../errors.js';
import { refuse, requireInteger, requireKnown } from '../options.js';
import { VARIANTS } from './keys/codec.js';
import { MAX_WEIGHT } from './ring/hash-ring.js';

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

/** Port, host and weight. Port and weight may be numbers or text with digits. The default weight is 1. */
export type ShardTuple = readonly [port: number | string, host: string, weight?: number | string];

/** A node with its parts by name. */
export interface ShardRecord {
  readonly port: number | string;
  readonly host: string;
  /** Default 1. */
  readonly weight?: number | string;
  /**
   * The name that places the node on the ring. Default `host:port`. Set it to the old `host:port` when the server gets
   * another address: every key then keeps its node.
   */
  readonly ringName?: string;
}

/** An entry of `shards`. */
export type ShardEntry = ShardTuple | ShardRecord;

const RECORD_NAMES = ['port', 'host', 'weight', 'ringName'];

/** The only node of a Redis Cluster. */
export const CLUSTER: ShardNode = {
  ...{ name: 'cluster', index: 0, address: 'cluster', host: '', port: 0, weight: 1 },
  ringName: 'cluster',
};

/**
 * Reads the nodes of `shards`.
 *
 * @throws InvalidOptionError naming the entry that is wrong
 */
export function readShards(shards: object): ShardNode[] {
  if (typeof shards !== 'object' || shards === null)
    refuse('shards', 'an object of [port, host, weight]', shards);
  const entries = Object.entries(shards);
  if (entries.length < 1 || entries.length > VARIANTS)
    refuse('shards', `1 to ${VARIANTS} nodes`, entries.length);
  const nodes = entries.map(([name, entry], index) => readNode(name, entry, index));
  refuseTwins(nodes, 'address', 'give every node its own address');
  refuseTwins(nodes, 'ringName', 'give every node its own ringName');
  return nodes;
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

function readNode(name: string, entry: unknown, index: number): ShardNode {
  const given = recordOf(name, entry);
  const port = requireInteger(`the port of shards.${name}`, toNumber(given.port), 1, 65_535);
  const host = requireText(`the host of shards.${name}`, given.host);
  const weight = requireInteger(`the weight of shards.${name}`, toNumber(given.weight ?? 1), 1, MAX_WEIGHT);
  const address = `${host}:${port}`;
  const ringName = requireText(`the ringName of shards.${name}`, given.ringName ?? address);
  return { name, index, address, host, port, weight, ringName };
}

function recordOf(name: string, entry: unknown): ShardRecord {
  if (Array.isArray(entry)) {
    if (entry.length > 3) refuse(`shards.${name}`, '[port, host, weight] and nothing more', entry);
    const [port, host, weight] = entry as unknown as ShardTuple;
    return { port, host, ...(weight !== undefined && { weight }) };
  }
  if (typeof entry !== 'object' || entry === null)
    refuse(`shards.${name}`, '[port, host, weight] or { port, host, weight, ringName }', entry);
  return requireKnown(`shards.${name}`, entry as ShardRecord, RECORD_NAMES);
}

/** Turns text with digits into a number, because ports are text in Shardjs configs. Other values are kept. */
function toNumber(value: unknown): unknown {
  return typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value;
}

/** @throws InvalidOptionError unless the value is text without white space */
export function requireText(option: string, value: unknown): string {
  if (typeof value === 'string' && value !== '' && !/[\s\0]/.test(value)) return value;
  refuse(option, 'text without spaces', value);
}
