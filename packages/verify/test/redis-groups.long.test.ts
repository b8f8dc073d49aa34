import * as ioredis from 'ioredis';
import * as redis from 'redis';
import { expect, it } from 'vitest';
import { describeWith, startRedisCluster, startRedisSentinels } from '#services';
import type { RedisDriver } from '../../idsmith/src/stores/redis/drivers.ts';
import { openRedisWith } from '../../idsmith/src/stores/redis/open.ts';
import { FaultyProxy } from '../src/proxy/faulty-proxy.ts';
import { type Route, routeOf } from '../src/target.ts';

const DRIVERS: readonly RedisDriver[] = [
  { name: 'redis', redis },
  { name: 'ioredis', ioredis },
];

interface Group {
  readonly url: string;
  /** The number of servers and Sentinels. */
  readonly size: number;
  stop(): Promise<void>;
}

const GROUPS: Readonly<Record<string, () => Promise<Group>>> = {
  'a Redis Cluster': async () => {
    const cluster = await startRedisCluster({ masters: 3, replicas: 1 });
    // One host is enough. The others tell their addresses.
    const url = `redis+cluster://127.0.0.1:${cluster.nodes[0]!.port}`;
    return { url, size: 6, stop: () => cluster.stop() };
  },
  'Redis with Sentinels': async () => {
    const group = await startRedisSentinels();
    return { url: group.url, size: 6, stop: () => group.stop() };
  },
};

/** Names in slots of different nodes. */
const NAMES = Array.from({ length: 12 }, (_, i) => `namespace ${i}`);

for (const [name, start] of Object.entries(GROUPS))
  await describeWith(['redis'], `Proxies before ${name}`, () => {
    it.each(DRIVERS)(
      'stand before each server, so that nothing reaches them when all are cut ($name)',
      async (driver) => {
        const { url, size, stop } = await start();
        const route = (await routeOf(`${url}?maxTtl=2000`)) as Route;
        expect(route.places).toHaveLength(size);
        const proxies = await Promise.all(route.places.map((place) => FaultyProxy.before(place)));
        const { url: proxied, natMap } = route.through(proxies.map(({ place }) => place));
        const store = openRedisWith(driver, proxied, 2000, natMap);
        const list = () => Promise.allSettled(NAMES.map((namespace) => store.listLeases(namespace)));
        const statuses = async () => [...new Set((await list()).map(({ status }) => status))];
        expect(await statuses()).toEqual(['fulfilled']);
        for (const proxy of proxies) proxy.cut();
        expect(await statuses()).toEqual(['rejected']);
        for (const proxy of proxies) proxy.heal();
        await expect.poll(statuses, { timeout: 60_000 }).toEqual(['fulfilled']);
        await store.close();
        await Promise.all(proxies.map((proxy) => proxy.close()));
        await stop();
      },
      120_000,
    );
  });
