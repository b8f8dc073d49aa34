import { readConfig, type ShardConfig, type ShardNode } from '../../../idsmith/src/shard/config.js';
import { writeKey } from '../../../idsmith/src/shard/keys/codec.js';
import { HashRing } from '../../../idsmith/src/shard/ring/hash-ring.js';

/** How many keys are asked for: enough that a share is right to about a tenth of a per cent. */
export const KEYS = 200_000;

/** A key like those that are minted, a second or so apart from the one before. */
const keyOf = (i: number) => writeKey(300_000_000_000 + i * 1009, (i * 7) % 3844, 3843);

/** A node, and how much of the keys it has. */
export interface NodeShare {
  readonly name: string;
  readonly weight: number;
  readonly points: number;
  /** From 0 to 1. */
  readonly share: number;
}

/** Where each of the sample keys lives. */
export interface Placement {
  readonly names: readonly string[];
  /** For each key, a place in `names`. */
  readonly owners: Uint16Array;
  readonly nodes: readonly NodeShare[];
}

/**
 * The nodes of a config, given as JSON.
 *
 * @throws Error that says what is wrong with it
 */
export function readNodes(text: string): readonly ShardNode[] {
  const config = parse(text);
  if ((config as { cluster?: unknown } | null)?.cluster !== undefined)
    throw new Error('a Redis Cluster places keys by its own slots, not by a ring');
  return readConfig(config as ShardConfig).nodes;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`this is not JSON: ${(error as Error).message}`);
  }
}

/** @throws Error when a node's weight is wrong, or none of them gets a key */
export function place(nodes: readonly Pick<ShardNode, 'name' | 'weight'>[]): Placement {
  const ring = new HashRing(Object.fromEntries(nodes.map(({ name, weight }) => [name, weight])));
  const { points } = ring;
  const names = Object.keys(points);
  const indexes = new Map(names.map((name, i) => [name, i]));
  const owners = Uint16Array.from({ length: KEYS }, (_, i) => indexes.get(ring.nodeOf(keyOf(i))) as number);
  const counts = new Array<number>(names.length).fill(0);
  for (const owner of owners) counts[owner]! += 1;
  const weights = new Map(nodes.map(({ name, weight }) => [name, weight]));
  return {
    names,
    owners,
    nodes: names.map((name, i) => ({
      name,
      weight: weights.get(name) as number,
      points: points[name] as number,
      share: counts[i]! / KEYS,
    })),
  };
}

/** Keys that go from one node to another, as a share of all keys. */
export interface Move {
  readonly from: string;
  readonly to: string;
  readonly share: number;
}

/** What moves when the one ring gives way to the other, the largest share first. */
export function movesBetween(before: Placement, after: Placement): Move[] {
  const counts = new Map<string, number>();
  for (let i = 0; i < KEYS; i++) {
    const from = before.names[before.owners[i] as number] as string;
    const to = after.names[after.owners[i] as number] as string;
    if (from !== to) counts.set(`${from}\n${to}`, (counts.get(`${from}\n${to}`) ?? 0) + 1);
  }
  return [...counts]
    .map(([pair, count]) => {
      const [from, to] = pair.split('\n') as [string, string];
      return { from, to, share: count / KEYS };
    })
    .sort((a, b) => b.share - a.share);
}
