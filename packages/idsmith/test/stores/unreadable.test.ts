import { type Store, StoreError } from 'idsmith';
import { Redis } from 'ioredis';
import { expect, it } from 'vitest';
import { describeWith, initialised, type ServiceName, startEtcd, startRedis } from '#services';
import { etcdStore } from '../../src/stores/etcd/store.ts';
import { redisStore } from '../../src/stores/redis/store.ts';

/** A store with a sequence `x` whose stored data is replaced by a text. */
interface Spoilt {
  readonly store: Store;
  spoil(text: string): Promise<void>;
  stored(): Promise<string>;
  stop(): Promise<void>;
}

async function inRedis(): Promise<Spoilt> {
  const server = await initialised(await startRedis());
  const client = new Redis(server.port, '127.0.0.1');
  const key = 'idsmith:sequence:{x}';
  return {
    store: redisStore(client),
    spoil: async (text) => void (await client.hset(key, 'definition', text)),
    stored: async () => (await client.hget(key, 'definition')) ?? '',
    stop: async () => {
      client.disconnect();
      await server.stop();
    },
  };
}

async function inEtcd(): Promise<Spoilt> {
  const etcd = await startEtcd();
  const key = btoa('test/sequence/x/ledger');
  const ask = async (path: string, body: object) => {
    const init = { method: 'POST', body: JSON.stringify(body) };
    return (await fetch(`${etcd.endpoints[0]}/v3/kv/${path}`, init)).json();
  };
  return {
    store: etcdStore({ endpoints: etcd.endpoints, prefix: 'test/' }),
    spoil: (text) => ask('put', { key, value: btoa(text) }),
    stored: async () => atob((await ask('range', { key })).kvs[0].value),
    stop: () => etcd.stop(),
  };
}

const STORES: readonly [name: string, needs: ServiceName[], start: () => Promise<Spoilt>][] = [
  ['Redis', ['redis'], inRedis],
  ['etcd', ['etcd'], inEtcd],
];

for (const [title, needs, start] of STORES)
  await describeWith(needs, `A sequence in ${title} whose stored data cannot be read`, () => {
    it('is an error that names the sequence, and the data stays as it is', async () => {
      const { store, spoil, stored, stop } = await start();
      for (const name of ['x', 'y']) await store.defineSequence({ name, blockSize: 10 });
      for (const text of ['not JSON', '{"start":1}', 'null']) {
        await spoil(text);
        const calls = [store.describeSequence('x'), store.allocate('x', 1), store.listSequences()];
        calls.push(store.alterSequence('x', { next: 500 }), store.removeSequence('x') as Promise<never>);
        for (const outcome of await Promise.allSettled(calls)) {
          const { reason } = outcome as PromiseRejectedResult;
          expect(reason).toBeInstanceOf(StoreError);
          expect(reason.reason).toBe('UNREADABLE');
          expect(reason.message).toContain('stored data of sequence "x" cannot be read');
          expect(reason.cause).toBeInstanceOf(Error);
        }
        await expect(store.defineSequence({ name: 'x' })).rejects.toThrow();
        expect(await stored()).toBe(text);
      }
      expect((await store.allocate('y', 1)).first).toBe(1n);
      await stop();
    });
  });
