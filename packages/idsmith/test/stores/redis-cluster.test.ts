import { type LeaseRecord, StoreError } from 'idsmith';
import { leaseStoreCases } from 'idsmith/testing';
import { Cluster } from 'ioredis';
import { createCluster } from 'redis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  describeWith,
  type RedisCluster,
  type RedisServer,
  startRedisCluster,
} from '../../../../test/services/index.ts';
import type { Store } from '../../src/stores/memory.ts';
import { redisStore } from '../../src/stores/redis.ts';

const HELD: LeaseRecord = { id: 0, owner: 'a', epoch: 1, fence: 1000, expiresAt: 2000, label: 'host 1' };

/** A store and the end of its client. */
interface Opened {
  readonly store: Store;
  readonly end: () => void;
}

const clients: Record<string, (cluster: RedisCluster) => Promise<Opened>> = {
  async ioredis({ nodes }) {
    const client = new Cluster(
      nodes.map(({ port }) => ({ host: '127.0.0.1', port })),
      { redisOptions: { autoResendUnfulfilledCommands: false } },
    );
    client.on('error', () => {});
    return { store: redisStore(client, { maxTtl: 2000 }), end: () => client.disconnect() };
  },
  async redis({ nodes }) {
    const client = createCluster({
      rootNodes: nodes.map(({ url }) => ({ url })),
      defaults: { disableOfflineQueue: true, socket: { connectTimeout: 1000 } },
    });
    client.on('error', () => {});
    await client.connect();
    return { store: redisStore(client, { maxTtl: 2000 }), end: () => client.destroy() };
  },
};

const keyOf = (namespace: string) => `idsmith:lease:{${encodeURIComponent(namespace)}}`;

/** A namespace whose records the first master keeps. */
async function namespaceOf(cluster: RedisCluster): Promise<string> {
  for (let i = 0; ; i++) {
    const slot = Number(await cluster.nodes[0]!.command('CLUSTER', 'KEYSLOT', keyOf(`ns ${i}`)));
    if (slot < Math.floor(16_384 / cluster.masters.length)) return `ns ${i}`;
  }
}

for (const [name, open] of Object.entries(clients)) {
  await describeWith(['redis'], `The Redis store on a Cluster with a client of ${name}`, () => {
    let cluster: RedisCluster;
    let opened: Opened;

    beforeAll(async () => {
      cluster = await startRedisCluster({ masters: 3, replicas: 1 });
      opened = await open(cluster);
    });

    afterAll(async () => {
      opened?.end();
      await cluster?.stop();
    });

    for (const { name, run } of leaseStoreCases(() => opened.store)) it(name, run);

    it('spreads namespaces over the masters, those with braces too', async () => {
      const names = Array.from({ length: 12 }, (_, i) => `{}${i}{x}`);
      for (const name of names) await opened.store.swapLease(name, undefined, HELD);
      for (const name of names) expect(await opened.store.listLeases(name)).toEqual([HELD]);
      const slots = await Promise.all(
        names.map((name) => cluster.nodes[0]!.command('CLUSTER', 'KEYSLOT', keyOf(name))),
      );
      expect(new Set(slots).size).toBe(names.length);
    });

    it('remembers nothing after a replica has replaced its master, and shows no older record', async () => {
      const { store } = opened;
      const namespace = await namespaceOf(cluster);
      const [master, replica] = [cluster.masters[0]!, cluster.replicas[0]!];
      await store.swapLease(namespace, undefined, HELD);
      await expect.poll(() => holds(replica, namespace), { timeout: 20_000 }).toBe(true);
      await master.kill();
      const answers = new Set<string>();
      const list = async () => {
        const answer = await store.listLeases(namespace).catch((error) => error);
        answers.add(answer instanceof StoreError ? 'failed' : JSON.stringify(answer));
        return answer;
      };
      await expect.poll(list, { timeout: 50_000, interval: 200 }).toEqual([]);
      expect([...answers].filter((answer) => answer !== 'failed')).toEqual(['[]']);
      expect(await holds(replica, namespace)).toBe(true);
      expect(await store.swapLease(namespace, HELD, { ...HELD, epoch: 2 })).toBe(false);
      expect(await store.swapLease(namespace, undefined, { ...HELD, owner: 'b' })).toBe(true);
      expect(await store.listLeases(namespace)).toEqual([{ ...HELD, owner: 'b' }]);
    });
  });
}

/** Whether a node has the namespace's hash. `CLUSTER COUNTKEYSINSLOT` asks a replica without being sent on. */
async function holds(node: RedisServer, namespace: string): Promise<boolean> {
  const slot = await node.command('CLUSTER', 'KEYSLOT', keyOf(namespace));
  return (await node.command('CLUSTER', 'COUNTKEYSINSLOT', slot)) === '1';
}
