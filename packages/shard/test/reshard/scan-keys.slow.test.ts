import { ShardMap } from '@idsmith/shard';
import { Redis } from 'ioredis';
import { createCluster } from 'redis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, type RedisServer, startRedis } from '#services';
import { ReshardContext } from '../../src/reshard/context.ts';
import { type NodeConnection, scanKeys } from '../../src/reshard/node-connection.ts';
import { ringOf } from '../start-shards.ts';
import { RingAndCluster } from './ring-and-cluster.ts';

/** So many that every server needs several SCANs. */
const KEYS = Array.from({ length: 12_000 }, (_, i) => `key${i}`);

// A server places its keys by a secret that it takes at its start, so a cursor of the time before means nothing.
await describeWith(['redis'], 'A scan of a server that is started again meanwhile', () => {
  let both: RingAndCluster;
  let node: RedisServer;

  beforeAll(async () => {
    [both, node] = await Promise.all([
      RingAndCluster.start({ persistence: 'aof' }),
      startRedis({ persistence: 'aof' }),
    ]);
  });
  afterAll(() => Promise.all([both?.stop(), node?.stop()]));

  /** All keys that a scan finds. The server crashes after the first of them. */
  async function scanAndCrash(scanned: NodeConnection, server: RedisServer): Promise<Set<unknown>> {
    const found = new Set<unknown>();
    let hasCrashed = false;
    for await (const keys of scanKeys(scanned)) {
      for (const key of keys) found.add(key);
      if (hasCrashed) continue;
      hasCrashed = true;
      await server.kill();
      await server.start();
    }
    return found;
  }

  const missingIn = (found: ReadonlySet<unknown>) => KEYS.filter((key) => !found.has(key)).length;

  it('finds every key of a node', async () => {
    const client = new Redis(node.port).on('error', () => {});
    await client.mset(KEYS.flatMap((key) => [key, '']));
    client.disconnect();
    const other = both.ring.config;
    const maps = [new ShardMap({ ...ringOf([node]) }), new ShardMap({ shards: other.shards ?? {} })];
    const { sources } = new ReshardContext(...(maps as [ShardMap, ShardMap]));
    const [source] = sources.values();
    expect(missingIn(await scanAndCrash(source as NodeConnection, node))).toBe(0);
    await Promise.all(maps.map((map) => map.close()));
  });

  // The package `redis` connects to a master again, and `ioredis` lets the scan fail.
  it('finds every key of a Redis Cluster', async () => {
    await Promise.all(KEYS.map((key) => both.client.set(key, '')));
    const cluster = createCluster({ rootNodes: both.cluster.nodes.map(({ url }) => ({ url })) });
    cluster.on('error', () => {});
    await cluster.connect();
    const [from] = both.maps();
    const to = new ShardMap({
      cluster,
      hashTags: true,
      ...(both.ring.config.options && { options: both.ring.config.options }),
    });
    const target = new ReshardContext(from, to).targets.values().next().value as NodeConnection;
    const [server] = (await target.servers()) as [NodeConnection];
    const info = String(await server.command('asking', 'INFO', 'server'));
    const first = both.cluster.masters.find(({ port }) => info.includes(`tcp_port:${port}`)) as RedisServer;
    expect(missingIn(await scanAndCrash(target, first))).toBe(0);
    await Promise.all([to.close(), cluster.close()]);
  });
});
