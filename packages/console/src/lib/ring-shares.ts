import { fixedKey, HashRing, type ShardConfig, type ShardNode, shardNodesOf } from '@idsmith/shard/ring';

/** The number of sample keys. Enough for shares that are accurate to about 0.1 percentage points. */
export const SAMPLE_KEYS = 200_000;

/** The sample key number `i`. Neighbouring keys lie about a second apart. */
const keyOf = (i: number) => fixedKey(300_000_000_000 + i * 1009, (i * 7) % 3844, 3843);

/** A node and its share of the keys. */
export interface NodeShare {
  /** The name of the node on the ring: its address, unless the config has another `ringName`. */
  readonly ringName: string;
  readonly weight: number;
  readonly points: number;
  /** From 0 to 1. */
  readonly share: number;
}

/** The owner of each sample key. */
export interface SampleOwners {
  readonly names: readonly string[];
  /** For each key, an index into `names`. */
  readonly owners: Uint16Array;
  readonly nodes: readonly NodeShare[];
}

/**
 * Reads the nodes from a shard config in JSON.
 *
 * @throws Error that names the wrong entry
 */
export function readNodes(text: string): readonly ShardNode[] {
  const config = parse(text);
  if ((config as { cluster?: unknown } | null)?.cluster !== undefined)
    throw new Error('a Redis Cluster places keys by its own slots, not by a ring');
  return shardNodesOf(config as ShardConfig);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`the config is not valid JSON: ${(error as Error).message}`);
  }
}

/**
 * Finds the owner of every sample key.
 *
 * @throws InvalidOptionError when a weight is out of range or no node gets a point on the ring
 */
export function placeKeys(nodes: readonly Pick<ShardNode, 'ringName' | 'weight'>[]): SampleOwners {
  const ring = new HashRing(Object.fromEntries(nodes.map(({ ringName, weight }) => [ringName, weight])));
  const { points } = ring;
  const names = Object.keys(points);
  const indexes = new Map(names.map((name, i) => [name, i]));
  const owners = Uint16Array.from(
    { length: SAMPLE_KEYS },
    (_, i) => indexes.get(ring.nodeOf(keyOf(i))) as number,
  );
  const counts = new Array<number>(names.length).fill(0);
  for (const owner of owners) counts[owner]! += 1;
  const weights = new Map(nodes.map(({ ringName, weight }) => [ringName, weight]));
  return {
    names,
    owners,
    nodes: names.map((ringName, i) => ({
      ringName,
      weight: weights.get(ringName) as number,
      points: points[ringName] as number,
      share: counts[i]! / SAMPLE_KEYS,
    })),
  };
}

/** The keys that move from one node to another, as a share of all keys. */
export interface KeyMove {
  readonly from: string;
  readonly to: string;
  readonly share: number;
}

/** The moves from one placement to another, the largest share first. */
export function movesBetween(before: SampleOwners, after: SampleOwners): KeyMove[] {
  const counts = new Map<string, number>();
  for (let i = 0; i < SAMPLE_KEYS; i++) {
    const from = before.names[before.owners[i] as number] as string;
    const to = after.names[after.owners[i] as number] as string;
    if (from !== to) counts.set(`${from}\n${to}`, (counts.get(`${from}\n${to}`) ?? 0) + 1);
  }
  return [...counts]
    .map(([pair, count]) => {
      const [from, to] = pair.split('\n') as [string, string];
      return { from, to, share: count / SAMPLE_KEYS };
    })
    .sort((a, b) => b.share - a.share);
}
