import { readFileSync } from 'node:fs';
import { reshard, type ShardConfig, ShardMap, TransitionMap } from '@idsmith/shard';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeWith, type RedisServer } from '#services';
import { DRIVERS, type OpenClient } from '../../../idsmith/test/support/drivers.ts';
import { repeated } from '../../../idsmith/test/support/unique.ts';
import { everywhere, faults, populate, sampleKeys } from '../../../verify/src/runs/reshard/sample-keys.ts';
import { ringOf, type Shards, startShards } from '../start-shards.ts';

describe('The drivers in package.json', () => {
  it('are those that the tests use: the lowest and the highest version of each', () => {
    const read = (path: string) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
    const { ioredis, redis } = read('../../package.json').peerDependencies;
    const versionOf = (alias: string) =>
      read(`../../../../node_modules/${alias}/package.json`).version as string;
    expect(Object.keys(DRIVERS)).toEqual([
      `ioredis ${versionOf('ioredis-5')}`,
      `ioredis ${versionOf('ioredis')}`,
      `redis ${versionOf('redis-5')}`,
      `redis ${versionOf('redis')}`,
    ]);
    expect([ioredis, redis]).toEqual([`>=${versionOf('ioredis-5')} <7`, `>=${versionOf('redis-5')} <7`]);
  });
});

for (const [name, open] of Object.entries(DRIVERS))
  await describeWith(['redis'], `A map with clients of ${name}`, () => {
    let shards: Shards;
    const clients = new Map<number, OpenClient>();
    const maps: { close(): Promise<void> }[] = [];

    beforeAll(async () => {
      shards = await startShards([1, 1, 1]);
      for (const { port } of shards.servers) clients.set(port, await open(port));
    });
    beforeEach(() => Promise.all(shards.servers.map((server) => server.command('FLUSHALL'))));
    afterEach(async () => {
      await Promise.all(maps.splice(0).map((map) => map.close()));
    });
    afterAll(async () => {
      for (const { end } of clients.values()) end();
      await shards?.stop();
    });

    const configOf = (servers: readonly RedisServer[]): ShardConfig => ({
      ...shards.config,
      ...ringOf(servers),
      createClient: ({ port }) => clients.get(port)!.client,
    });
    function keep<Map extends { close(): Promise<void> }>(map: Map): Map {
      maps.push(map);
      return map;
    }

    it('mints, and uses the clients for its keys', async () => {
      const map = keep(new ShardMap(configOf(shards.servers)));
      const keys = await map.genKeys('user', 20_000);
      expect(repeated(keys)).toEqual([]);
      const key = keys[0]!;
      await map.getClient(key).set(key, 'value');
      expect(await map.getClient(key).get(key)).toBe('value');
    });

    it('moves keys of every type with their TTLs, while a map in transition uses them, and mints on', async () => {
      const two = configOf(shards.servers.slice(0, 2));
      const three = configOf(shards.servers);
      const [from, to] = [keep(new ShardMap(two)), keep(new ShardMap(three))];
      const minted = await from.genKeys('user', 500);
      const all = sampleKeys(from, 700, Date.now() + 3_600_000);
      await populate(from, all);
      const transition = keep(new TransitionMap(two, three));
      const counter = minted[0]!;
      const increment = () => transition.getClient(counter).incr(counter);
      await increment();
      let increments = 1;
      let isMoving = true;
      const load = (async () => {
        while (isMoving) {
          await increment();
          increments++;
          minted.push(await transition.genKey('user'));
        }
      })();
      const report = await reshard(from, to);
      isMoving = false;
      await load;
      expect(report.moved).toBeGreaterThan(100);
      expect(await faults(to, all)).toEqual([]);
      const places = await everywhere(to);
      for (const { key } of all) expect([key, places.get(key)]).toEqual([key, [to.whereIs(key)]]);
      expect(Number(await to.getClient(counter).get(counter))).toBe(increments);
      minted.push(...(await to.genKeys('user', 500)));
      expect(repeated(minted)).toEqual([]);
    });

    it('moves values and names in any bytes', async () => {
      const servers = shards.servers;
      const [from, to] = [
        keep(new ShardMap(configOf(servers.slice(0, 1)))),
        keep(new ShardMap(configOf(servers.slice(1, 2)))),
      ];
      const key = from.fixedKey(1_000_000, 7, 2);
      const script = "local all = '' for i = 0, 255 do all = all .. string.char(i) end return redis.call(";
      const { client } = clients.get(servers[0]!.port)!;
      const run = (text: string) =>
        'evalSha' in client ? client.eval(text, { keys: [key], arguments: [] }) : client.eval(text, 1, key);
      await run(`${script}'HSET', KEYS[1], all, all)`);
      await reshard(from, to);
      const target = clients.get(servers[1]!.port)!.client;
      const same = `${script}'HGET', KEYS[1], all) == all and 1 or 0`;
      expect(
        await ('evalSha' in target
          ? target.eval(same, { keys: [key], arguments: [] })
          : target.eval(same, 1, key)),
      ).toBe(1);
      expect(await servers[0]!.command('EXISTS', key)).toBe('0');
    });
  });
