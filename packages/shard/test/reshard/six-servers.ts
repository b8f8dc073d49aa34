import { type ShardConfig, ShardMap } from '@idsmith/shard';
import { Redis } from 'ioredis';
import type { RedisServer } from '#services';
import { everywhere } from '../../../verify/src/runs/reshard/sample-keys.ts';
import { entriesOf, type Shards, startShards } from '../start-shards.ts';

/** Redis keys that a map or a resharding keeps on a node. */
const RESERVED = new Set(['$equence', 'idsmith:reshard']);

/** Six servers, plain clients of each, and maps on some of them. */
export class SixServers {
  readonly shards: Shards;
  readonly clients: readonly Redis[];
  maps: ShardMap<unknown>[] = [];

  constructor(shards: Shards) {
    this.shards = shards;
    this.clients = shards.servers.map(({ port }) => new Redis(port).on('error', () => {}));
  }

  static async start(): Promise<SixServers> {
    return new SixServers(await startShards([1, 1, 1, 1, 1, 1]));
  }

  async empty(): Promise<void> {
    await Promise.all(this.clients.map((client) => client.flushall()));
  }

  /** A map that `closeMaps` closes. */
  mapOn(
    servers: readonly RedisServer[],
    weights: number[] = [],
    config: Partial<ShardConfig> = {},
  ): ShardMap {
    const shards = entriesOf(servers, weights);
    const map = new ShardMap({ ...this.shards.config, ...config, shards } as ShardConfig);
    this.maps.push(map);
    return map;
  }

  /** A map of four nodes, and one of six with other weights. */
  fourAndSix(): readonly [ShardMap, ShardMap] {
    const { servers } = this.shards;
    return [this.mapOn(servers.slice(0, 4), [1, 2, 1, 3]), this.mapOn(servers, [3, 1, 2, 2, 4, 1])];
  }

  /** The nodes that hold each key, without reserved keys. */
  async places(map: ShardMap): Promise<Map<string, string[]>> {
    return new Map([...(await everywhere(map))].filter(([key]) => !RESERVED.has(key)));
  }

  async closeMaps(): Promise<void> {
    await Promise.all(this.maps.splice(0).map((map) => map.close()));
  }

  async stop(): Promise<void> {
    for (const client of this.clients) client.disconnect();
    await this.shards.stop();
  }
}
