import { type ShardConfig, ShardMap, TransitionMap } from '@idsmith/shard';
import { Cluster, Redis } from 'ioredis';
import { type RedisCluster, type RedisClusterOptions, type RedisServer, startRedisCluster } from '#services';
import { type Shards, startShards } from '../start-shards.ts';

/** A ring of two servers and a Redis Cluster of three masters, with maps on them. */
export class RingAndCluster {
  readonly ring: Shards;
  readonly cluster: RedisCluster;
  readonly client: Cluster;
  readonly #maps: ShardMap<never>[] = [];

  constructor(ring: Shards, cluster: RedisCluster) {
    this.ring = ring;
    this.cluster = cluster;
    this.client = clusterOf(cluster);
  }

  static async start(options: RedisClusterOptions = {}): Promise<RingAndCluster> {
    const [ring, cluster] = await Promise.all([startShards([1, 2]), startRedisCluster(options)]);
    return new RingAndCluster(ring, cluster);
  }

  get configs(): [ShardConfig, ShardConfig] {
    const { config } = this.ring;
    return [
      config,
      { cluster: this.client, hashTags: true, ...(config.options && { options: config.options }) },
    ];
  }

  /** The same configs for other processes. */
  get portableConfigs(): [ShardConfig, ShardConfig] {
    const [ring, onCluster] = this.configs;
    return [ring, { ...onCluster, cluster: { nodes: this.cluster.nodes.map(({ url }) => url) } }];
  }

  /** New maps of the ring and the cluster. */
  maps(): [from: ShardMap, to: ShardMap] {
    const [from, to] = this.configs.map((config) => new ShardMap(config)) as [ShardMap, ShardMap];
    this.#maps.push(from as ShardMap<never>, to as ShardMap<never>);
    return [from, to];
  }

  transition(): TransitionMap {
    const map = new TransitionMap(...this.configs);
    this.#maps.push(map as unknown as ShardMap<never>);
    return map;
  }

  /** All keys of some servers. */
  async keysOf(servers: readonly RedisServer[]): Promise<string[]> {
    const names = await Promise.all(
      servers.map(async ({ port }) => {
        const client = new Redis(port);
        return client.keys('*').finally(() => client.disconnect());
      }),
    );
    return names.flat().sort();
  }

  async empty(): Promise<void> {
    await Promise.all(this.#maps.splice(0).map((map) => map.close()));
    const servers = [...this.ring.servers, ...this.cluster.masters];
    await Promise.all(servers.map((server) => server.command('FLUSHALL')));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#maps.map((map) => map.close()));
    this.client.disconnect();
    await Promise.all([this.ring.stop(), this.cluster.stop()]);
  }
}

/** A client of `ioredis` for a cluster. */
function clusterOf(cluster: RedisCluster): Cluster {
  return new Cluster(cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port })));
}
