import type { ShardConfig, ShardEntry, ShardMap, ShardOptions } from '@idsmith/shard';
import { type RedisOptions, type RedisServer, startRedis } from '#services';

/** The example config of Shardjs, with the types and special keys of its readme, and patience: a busy machine is no fault. */
export const README_OPTIONS: ShardOptions = {
  seqname: '$equence',
  epoch: 1325404800000,
  timeout: 20_000,
  keyTypes: { index: 0, sorted: 1, user: 2, group: 3, comment: 4, like: 5 },
  specialKeys: {
    users: [0, 'index'],
    usernames: [1, 'index'],
    emails: [2, 'index'],
    groups: [3, 'index'],
    comments: [4, 'index'],
    likes: [5, 'index'],
    search: [6, 'sorted'],
  },
};

/** Servers, and the config of a map on them. */
export interface Shards {
  readonly servers: readonly RedisServer[];
  readonly config: ShardConfig;
  stop(): Promise<void>;
}

/** The `shards` of a config, with a weight for each server. */
export function entriesOf(
  servers: readonly RedisServer[],
  weights: readonly number[] = [],
): Record<string, ShardEntry> {
  return Object.fromEntries(
    servers.map(({ port }, i) => [String(i), [String(port), '127.0.0.1', weights[i] ?? 1]]),
  );
}

/** The part of a config with a ring of servers. The commands of tests are spelt as this driver spells them. */
export function ringOf(
  servers: readonly RedisServer[],
  weights?: readonly number[],
): { shards: Record<string, ShardEntry>; driver: 'ioredis' } {
  return { shards: entriesOf(servers, weights), driver: 'ioredis' };
}

/** Starts a server for each weight. The first key has to wait for `maxSkew`, so `maxSkew` is small here. */
export async function startShards(
  weights: readonly number[],
  options: ShardOptions = {},
  redis: RedisOptions = {},
): Promise<Shards> {
  const servers = await Promise.all(weights.map(() => startRedis(redis)));
  return {
    servers,
    config: {
      ...ringOf(servers, weights),
      options: { ...README_OPTIONS, maxSkew: 50, ...options },
    },
    stop: async () => {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

/** The part of a key that must be unique: the key without type and suffix. */
export function positionOf(key: string): string {
  return key.split('-', 1)[0]!.slice(0, -2);
}

/**
 * Mints one key at a time until every node has minted. A process that mints quickly stays with one node while that one's keys
 * are ahead of its clock: for up to `lead`, if the ring is new.
 */
export async function mintOnAll(map: ShardMap): Promise<string[]> {
  const keys: string[] = [];
  const nodes = new Set<number>();
  while (nodes.size < map.nodes.length) {
    const key = await map.genKey('user');
    keys.push(key);
    nodes.add(map.virtualShardOf(key));
  }
  return keys;
}
