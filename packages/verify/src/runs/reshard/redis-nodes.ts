import type { ShardConfig, ShardEntry } from '@idsmith/shard';

/** The first key has to wait for `maxSkew`, so `maxSkew` is small. */
export const OPTIONS = { keyTypes: { user: 2 }, maxSkew: 50, timeout: 1000 };

/** A Redis of its own for a run, which may be killed, and started again on its data. */
export interface RedisNode {
  readonly port: number;
  readonly url: string;
  /** The folder of the server. Its data is in the folder `data` below. */
  readonly dir: string;
  command(...words: string[]): Promise<unknown>;
  kill(): Promise<unknown>;
  start(): Promise<unknown>;
}

/** A Redis Cluster of its own for a run. */
export interface RedisNodes {
  readonly nodes: readonly RedisNode[];
  readonly masters: readonly RedisNode[];
}

/** The part of a config with a ring of servers. The commands of runs are spelt as this driver spells them. */
export function ringOf(
  servers: readonly Pick<RedisNode, 'port'>[],
  weights: readonly number[] = [],
): Pick<ShardConfig, 'shards' | 'driver'> {
  const entries = servers.map(({ port }, i): [string, ShardEntry] => [
    String(i),
    [String(port), '127.0.0.1', weights[i] ?? 1],
  ]);
  return { shards: Object.fromEntries(entries), driver: 'ioredis' };
}
