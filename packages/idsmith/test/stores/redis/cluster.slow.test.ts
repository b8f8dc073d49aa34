import { type LeaseRecord, StoreError } from 'idsmith';
import { leaseStoreCases, sequenceStoreCases } from 'idsmith/testing';
import { Cluster } from 'ioredis';
import { createCluster } from 'redis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { describeWith, type RedisCluster, type RedisServer, startRedisCluster } from '#services';
import { initStore } from '../../../src/stores/init.ts';
import { redisStore } from '../../../src/stores/redis/store.ts';
import type { Store } from '../../../src/stores/store.ts';
import { type Load, notBeside, startLoad } from '../support/runs.ts';

const HELD: LeaseRecord = { id: 0, owner: 'a', epoch: 1, fence: 1000, expiresAt: 2000, label: 'host 1' };

/** A case waits as long, and a store must answer within a third of it, ms. */
const MAX_TTL = 6000;

const POLLING = { timeout: 50_000, interval: 100 };

/** A store, the one for the cases of leases, and a function that ends their client. */
interface Opened {
  readonly store: Store;
  /** With one of the clients the cases wait as long as a namespace of a store that can forget makes them wait. */
  readonly leases: Store;
  readonly end: () => void;
}

const clients: Record<string, (cluster: RedisCluster) => Promise<Opened>> = {
  async ioredis({ nodes }) {
    const client = new Cluster(
      nodes.map(({ port }) => ({ host: '127.0.0.1', port })),
      { redisOptions: { autoResendUnfulfilledCommands: false } },
    );
    client.on('error', () => {});
    const store = redisStore(client, { maxTtl: MAX_TTL });
    return { store, leases: store, end: () => client.disconnect() };
  },
  async redis({ nodes }) {
    const client = createCluster({
      rootNodes: nodes.map(({ url }) => ({ url })),
      defaults: { disableOfflineQueue: true, socket: { connectTimeout: 5000 } },
    });
    client.on('error', () => {});
    await client.connect();
    const store = redisStore(client, { maxTtl: MAX_TTL });
    return { store, leases: redisStore(client, { durable: true }), end: () => client.destroy() };
  },
};

const keyOf = (namespace: string) => `idsmith:lease:{${encodeURIComponent(namespace)}}`;

/** A namespace that belongs to the first master, as does the sequence of the same name. */
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
      await initStore(opened.store);
    });

    afterAll(async () => {
      opened?.end();
      await cluster?.stop();
    });

    for (const { name, run } of leaseStoreCases(() => opened.leases)) it(name, run);
    for (const { name, run } of sequenceStoreCases(() => opened.store)) it(name, run);

    it('spreads namespaces over the masters, those with braces too', async () => {
      const names = Array.from({ length: 12 }, (_, i) => `{}${i}{x}`);
      for (const name of names) await opened.store.swapLease(name, undefined, HELD);
      for (const name of names) expect(await opened.store.listLeases(name)).toEqual([HELD]);
      const slots = await Promise.all(
        names.map((name) => cluster.nodes[0]!.command('CLUSTER', 'KEYSLOT', keyOf(name))),
      );
      expect(new Set(slots).size).toBe(names.length);
    });

    describe('after a replica has replaced a master', () => {
      let namespace: string;
      let birth: LeaseRecord;
      let load: Load;
      const answers: unknown[] = [];

      beforeAll(async () => {
        const { store } = opened;
        namespace = await namespaceOf(cluster);
        await store.swapLease(namespace, undefined, HELD);
        birth = { ...HELD, id: -1, label: (await store.moment!(namespace)).lineage! };
        await store.swapLease(namespace, undefined, birth);
        await store.defineSequence({ name: namespace });
        await vi.waitUntil(async () => (await keysOn(cluster.replicas[0]!, namespace)) === 2, POLLING);
        load = startLoad([store, store, store], namespace);
        await vi.waitUntil(() => load.blocks.length > 100, POLLING);
        await cluster.masters[0]!.kill();
        const list = async () => {
          answers.push(await store.listLeases(namespace).catch((error) => error));
          return Array.isArray(answers.at(-1));
        };
        await vi.waitUntil(list, POLLING);
      });

      it('lets the holder of an intact record renew, and nobody claim', async () => {
        const { store } = opened;
        expect(answers.filter((answer) => !(answer instanceof StoreError))).toEqual([[HELD, birth]]);
        const claimed = { ...HELD, owner: 'b', epoch: 2 };
        expect(await store.claimLease!(namespace, HELD, claimed, birth)).toBe(false);
        expect(await store.swapLease(namespace, HELD, claimed)).toBe(false);
        expect(await store.swapLease(namespace, HELD, { ...HELD, owner: 'a, later' })).toBe(true);
      });

      it('gives no id of a sequence twice: an alteration has to say where to go on', async () => {
        const { store } = opened;
        await expect.poll(() => String(load.errors.at(-1))).toMatch(/may have forgotten/);
        const given = load.blocks.length;
        const { next } = await store.describeSequence(namespace);
        await store.alterSequence(namespace, { next: next + 1_000_000n });
        await expect.poll(() => load.blocks.length).toBeGreaterThan(given + 100);
        expect(notBeside(await load.stop(), 'overlap')).toEqual([]);
        expect((await store.listSequences()).map(({ name }) => name)).toContain(namespace);
      });
    });
  });
}

/** How many keys a node has in the slot. `CLUSTER COUNTKEYSINSLOT` asks a replica without being sent on. */
async function keysOn(node: RedisServer, namespace: string): Promise<number> {
  const slot = await node.command('CLUSTER', 'KEYSLOT', keyOf(namespace));
  return Number(await node.command('CLUSTER', 'COUNTKEYSINSLOT', slot));
}
