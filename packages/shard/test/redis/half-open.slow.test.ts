import { ShardMap } from '@idsmith/shard';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { describeWith } from '#services';
import { FaultyProxy } from '../../../verify/src/proxy/faulty-proxy.ts';
import { type Shards, startShards } from '../start-shards.ts';

describe.each(['ioredis', 'redis'] as const)(
  'A map whose connections of %s are forgotten on the way',
  async (driver) => {
    await describeWith(['redis'], 'but still look open', () => {
      let shards: Shards;
      let proxies: FaultyProxy[];
      let map: ShardMap;

      beforeAll(async () => {
        shards = await startShards([1, 1]);
        proxies = await Promise.all(shards.servers.map(({ port }) => FaultyProxy.before(port)));
        const entries = proxies.map(({ port }, i) => [String(i), [String(port), '127.0.0.1', 1]]);
        map = new ShardMap({
          shards: Object.fromEntries(entries),
          driver,
          options: { ...shards.config.options, timeout: 500 },
        });
      });
      afterEach(() => {
        for (const proxy of proxies) proxy.heal();
      });
      afterAll(async () => {
        map?.close();
        await Promise.all(proxies?.map((proxy) => proxy.close()) ?? []);
        await shards?.stop();
      });

      const forget = () => {
        for (const proxy of proxies) proxy.halfOpen('everything');
        for (const proxy of proxies) proxy.heal();
      };
      const soon = { timeout: 30_000 };
      const KEY = /^[0-9A-Za-z]{11}$/;
      /** Mints a key over connections that work, however long they take on a busy machine. */
      const mintSoon = () => expect.poll(() => map.genKey().catch(String), soon).toMatch(KEY);

      it('mints again over new ones', async () => {
        // A node that was late on a busy machine has a new connection already: then both have to be forgotten once more.
        const mintForgotten = async () => {
          await mintSoon();
          forget();
          return map.genKey().catch(String);
        };
        await expect.poll(mintForgotten, soon).toMatch(/no answer within 500 ms/);
        await mintSoon();
      });

      it('mints again also if new connections were forgotten while they were made', async () => {
        await mintSoon();
        for (const proxy of proxies) proxy.halfOpen('answers');
        for (let i = 0; i < 4; i++) await expect(map.genKey()).rejects.toThrow();
        for (const proxy of proxies) proxy.heal();
        await mintSoon();
      });

      it('has clients that work again over new ones', async () => {
        const key = map.fixedKey(77, 7, 2);
        // The test before may have left it without a connection.
        const set = () => map.getClient(key).set(key, 'value').catch(String);
        const get = () => map.getClient(key).get(key).catch(String);
        const getForgotten = async () => {
          await expect.poll(set, soon).toBe('OK');
          forget();
          return get();
        };
        await expect.poll(getForgotten, soon).toMatch(/no answer within 500 ms/);
        await expect.poll(get, soon).toBe('value');
      });

      it('keeps a connection on which another command waits for something', async () => {
        const key = map.fixedKey(78, 7, 2);
        const client = map.getClient(key);
        const server = shards.servers[map.ownerOf(key).index]!;
        await expect.poll(() => client.get(key).catch(String), soon).toBe(null);
        const popped = driver === 'ioredis' ? client.blpop(key, 0) : client.blPop(key, 0);
        await expect.poll(() => server.command('INFO', 'clients')).toContain('blocked_clients:1');
        await expect(client.get('other')).rejects.toThrow(/no answer within 500 ms/);
        await server.command('RPUSH', key, 'pushed');
        expect(JSON.stringify(await popped)).toContain('pushed');
      });
    });
  },
);
