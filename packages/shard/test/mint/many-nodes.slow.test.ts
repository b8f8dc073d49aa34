import { ShardMap } from '@idsmith/shard';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, type RedisServer, startRedis } from '#services';
import { repeated } from '../../../idsmith/test/support/unique.ts';

const SIZE = 1100;

await describeWith(['redis'], `Minting on ${SIZE} nodes, more than the milliseconds of the lead`, () => {
  let server: RedisServer;
  const clients: Redis[] = [];
  const shards = Object.fromEntries(
    Array.from({ length: SIZE }, (_, i) => [i, ['6379', `10.0.${i >> 8}.${i & 255}`] as [string, string]]),
  );

  /** A map with a database of one server for each node. */
  function manyNodes(): ShardMap<Redis> {
    return new ShardMap<Redis>({
      shards,
      options: { maxSkew: 50, timeout: 60_000 },
      createClient: ({ index }) => {
        const client = new Redis(server.port, '127.0.0.1', { db: index, enableReadyCheck: false });
        clients.push(client);
        return client;
      },
    });
  }

  async function scripts(): Promise<number> {
    const text = await server.command('INFO', 'commandstats');
    const counts = [...text.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)];
    return counts.reduce((sum, [, calls]) => sum + Number(calls), 0);
  }

  beforeAll(async () => {
    server = await startRedis({ args: ['--databases', '2000', '--maxclients', '9000'] });
  });

  afterAll(async () => {
    for (const client of clients) client.disconnect();
    await server?.stop();
  });

  // A busy machine answers late, and then nodes are asked again. Without an end, that would be thousands of times.
  it('asks each node a few times for the first key, and fewer for each later one', async () => {
    const keys: string[] = [];
    for (const rounds of [30, 10]) {
      const map = manyNodes();
      const made = clients.length;
      let before = await scripts();
      keys.push(await map.genKey());
      expect((await scripts()) - before).toBeLessThanOrEqual(rounds * SIZE);
      for (let i = 0; i < 5; i++) {
        before = await scripts();
        keys.push(await map.genKey());
        expect((await scripts()) - before).toBeLessThanOrEqual(6 * SIZE);
      }
      expect(clients.length - made).toBe(SIZE);
      await map.close();
    }
    expect(repeated(keys)).toEqual([]);
  }, 120_000);
});
