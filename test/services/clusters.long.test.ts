import { Cluster } from 'ioredis';
import { createCluster } from 'redis';
import { expect, it, vi } from 'vitest';
import { speakers } from './hello.ts';
import { describeWith, startEtcd, startRedisCluster } from './index.ts';

await describeWith(['redis'], 'A private redis cluster', () => {
  const keys = Array.from({ length: 30 }, (_, index) => `key${index}`);

  it('serves every slot to both clients', async () => {
    const cluster = await startRedisCluster();
    const io = new Cluster(cluster.nodes.map(({ port }) => ({ host: '127.0.0.1', port })));
    await Promise.all(keys.map((key) => io.set(key, `value of ${key}`)));
    io.disconnect();
    const nodeRedis = createCluster({ rootNodes: cluster.nodes.map(({ url }) => ({ url })) });
    await nodeRedis.connect();
    const values = await Promise.all(keys.map((key) => nodeRedis.get(key)));
    nodeRedis.destroy();
    expect(values).toEqual(keys.map((key) => `value of ${key}`));
    await cluster.stop();
  });

  it('replaces a killed master by its replica, and takes the master back as a replica', async () => {
    const cluster = await startRedisCluster({ masters: 3, replicas: 1 });
    const [master] = cluster.masters;
    const [replica] = cluster.replicas;
    const roleOf = async (node = master) => /role:\w+/.exec(await node!.command('INFO', 'replication'))?.[0];
    expect(cluster.nodes).toHaveLength(6);
    expect(await roleOf(replica)).toBe('role:slave');
    await master!.kill();
    await expect.poll(() => roleOf(replica)).toBe('role:master');
    await master!.restart({ empty: true });
    await expect.poll(() => roleOf(master)).toBe('role:slave');
    await cluster.stop();
  });
});

await describeWith(['etcd'], 'A private etcd cluster', () => {
  const { write, read } = speakers.etcd;

  it('takes writes with one of its three nodes killed, and the node catches up', async () => {
    const etcd = await startEtcd({ nodes: 3 });
    const [one, two, three] = etcd.nodes;
    await three!.kill();
    // If it was the leader, requests fail until the other two have elected one of them.
    await vi.waitFor(() => write(one!.url, 'quorum', 'two of three'), { timeout: 40_000 });
    await expect.poll(() => read(two!.url, 'quorum')).toBe('two of three');
    await three!.restart();
    await expect.poll(() => read(etcd.endpoints[2]!, 'quorum')).toBe('two of three');
    await etcd.stop();
  });
});
