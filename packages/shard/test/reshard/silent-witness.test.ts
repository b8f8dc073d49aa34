import { ShardMap, TransitionMap } from '@idsmith/shard';
import { StoreError } from 'idsmith';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeWith, type RedisServer } from '#services';
import { ReshardContext } from '../../src/reshard/context.ts';
import { beginReshard } from '../../src/reshard/phase.ts';
import { ringOf, type Shards, startShards } from '../start-shards.ts';

/** The new owner alone knows what an old owner has given away. Most of the other nodes answer, and know nothing of it. */
await describeWith(['redis'], 'A node that comes back with older data while its new owner is silent', () => {
  let shards: Shards;
  const maps: { close(): Promise<void> }[] = [];

  beforeAll(async () => {
    shards = await startShards([1, 1, 1, 1], { timeout: 3000 });
  });
  afterEach(async () => {
    await Promise.all(maps.splice(0).map((map) => map.close()));
  });
  afterAll(() => shards?.stop());

  const config = (from: number, to: number) => ({
    ...shards.config,
    ...ringOf(shards.servers.slice(from, to)),
  });
  const open = <M extends { close(): Promise<void> }>(map: M): M => {
    maps.push(map);
    return map;
  };
  const transition = () => open(new TransitionMap(config(0, 3), config(3, 4)));

  it('is not used, and brings no deleted key back', async () => {
    const [crashing, , , silent] = shards.servers as [RedisServer, RedisServer, RedisServer, RedisServer];
    const { port } = crashing;
    const [from, to] = [open(new ShardMap(config(0, 3))), open(new ShardMap(config(3, 4)))];
    const key = Array.from({ length: 100 }, (_, i) => from.fixedKey(1000 + i, i, 2)).find(
      (one) => from.ownerOf(one).index === 0,
    ) as string;
    await from.getClient(key).set(key, 'old');
    await beginReshard(new ReshardContext(from, to), undefined);
    const client = new Redis(port).on('error', () => {});
    await client.save();
    client.disconnect();
    expect(await transition().getClient(key).del(key)).toBe(1);
    await crashing.kill();
    await crashing.start();

    silent.pause();
    const read = () =>
      transition()
        .getClient(key)
        .get(key)
        .catch((error: unknown) => error);
    const refused = (await read()) as Error;
    silent.resume();
    // As long as a busy machine keeps the node silent, the answer is the same as before.
    const OLDER = 'Its data is older than that, or missing';
    await expect.poll(async () => String(await read())).toContain(OLDER);
    expect(refused).toBeInstanceOf(StoreError);
    expect(refused.message).toContain(`node 127.0.0.1:${port} was started again`);
    expect(refused.message).toContain(`127.0.0.1:${silent.port}`);
  });
});
