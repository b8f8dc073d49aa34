import { type AnyClient, type ShardConfig, TransitionMap } from '@idsmith/shard';
import { InvalidOptionError } from 'idsmith';
import type { Redis } from 'ioredis';
import { createClient } from 'redis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith } from '#services';
import { beginReshard } from '../../src/reshard/phase.ts';
import { KEY, TwoNodeReshard } from '../reshard/two-node-reshard.ts';

await describeWith(['redis'], 'The client of a map in transition', () => {
  let nodes: TwoNodeReshard;
  let maps: { close(): Promise<void> }[] = [];

  beforeAll(async () => {
    nodes = await TwoNodeReshard.start();
  });
  beforeEach(() => Promise.all([nodes.old.flushall(), nodes.next.flushall()]));
  afterEach(async () => {
    await Promise.all(maps.map((map) => map.close()));
    maps = [];
  });
  afterAll(() => nodes?.stop());

  /** A map that moves every key from the old node to the new one. */
  function transition(): TransitionMap {
    const map = new TransitionMap(...nodes.configs());
    maps.push(map);
    return map;
  }

  it.each<[string, unknown[]]>([
    ['blpop', [KEY, 1]],
    ['brpoplpush', [KEY, `${KEY}-b`, 1]],
    ['bzpopminBuffer', [KEY, 1]],
    ['call', ['BLMOVE', KEY, `${KEY}-b`, 'LEFT', 'LEFT', 1]],
    ['xread', ['BLOCK', 100, 'STREAMS', KEY, '$']],
    ['xreadgroup', ['GROUP', 'g', 'c', 'block', 100, 'STREAMS', KEY, '>']],
  ])('refuses commands that hold up others, like %s', (method, args) => {
    const client = transition().getClient(KEY) as Record<string, (...args: unknown[]) => unknown>;
    expect(() => client[method]!(...args)).toThrow(InvalidOptionError);
  });

  it('refuses clients of two packages, whose methods have different names', () => {
    const [from, to] = nodes.configs();
    const map = new TransitionMap({ ...from, driver: 'redis' }, { ...to, driver: 'ioredis' });
    maps.push(map);
    expect(() => map.getClient(KEY)).toThrow(
      'the clients of the old nodes are of the package redis and those of the new nodes of ioredis: both configs need ' +
        "clients of one package, for example with driver: 'ioredis' in both",
    );
  });

  for (const phase of ['before', 'moving'] as const)
    it(`gives clients that do all that others do, ${phase === 'before' ? 'before' : 'while'} keys are moved`, async () => {
      const map = transition();
      await nodes.old.hset(
        `${KEY}-hash`,
        Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`f${i}`, i])),
      );
      await nodes.old.mset(KEY, '1', `${KEY}-a`, 'a', `${KEY}-b`, 'b');
      if (phase === 'moving') await beginReshard(nodes.context, undefined);
      const client = map.getClient(KEY) as AnyClient & Redis;
      // Several keys of a stem, in arrays, as bytes, by the names of commands, in scripts.
      expect(await client.mget([`${KEY}-a`, `${KEY}-b`])).toEqual(['a', 'b']);
      expect(await client.getBuffer(Buffer.from(KEY))).toEqual(Buffer.from('1'));
      expect(await client.call('INCR', KEY)).toBe(2);
      expect(await client.eval('return redis.call("APPEND", KEYS[1], "x")', 1, `${KEY}-a`)).toBe(2);
      // Lists of commands.
      expect(await client.pipeline().get(KEY).append(`${KEY}-b`, 'y').exec()).toEqual([
        [null, '2'],
        [null, 2],
      ]);
      expect(
        await client
          .multi([
            ['get', KEY],
            ['strlen', `${KEY}-b`],
          ])
          .exec(),
      ).toEqual([
        [null, '2'],
        [null, 2],
      ]);
      expect(() => client.multi({ pipeline: false })).toThrow(InvalidOptionError);
      // Callbacks.
      expect(
        await new Promise((resolve) => void client.get(KEY, (...answer: unknown[]) => resolve(answer))),
      ).toEqual([null, '2']);
      const failure = await new Promise((resolve) => {
        client.lpush(KEY, 'x', (error: unknown) => resolve(error)).catch(() => {});
      });
      expect(String(failure)).toContain('WRONGTYPE');
      // Streams.
      const fields = [];
      for await (const some of client.hscanStream(`${KEY}-hash`, { count: 50 })) fields.push(...some);
      expect(fields).toHaveLength(1200);
      // Methods without a key.
      expect(await client.ping()).toBe('PONG');
      expect(client.on('custom', () => {})).toBeDefined();
      expect(client.status).toBe('ready');
      await expect(client.lpush(KEY, 'x')).rejects.toThrow('WRONGTYPE');
      const [here, gone] = phase === 'before' ? [nodes.old, nodes.next] : [nodes.next, nodes.old];
      expect(await here.exists(KEY, `${KEY}-a`, `${KEY}-b`, `${KEY}-hash`)).toBe(4);
      expect(await gone.exists(KEY, `${KEY}-a`, `${KEY}-b`, `${KEY}-hash`)).toBe(0);
    });

  it('works with clients of the package redis', async () => {
    const clients = nodes.servers.map(({ url }) => createClient({ url }));
    await Promise.all(clients.map((client) => client.connect()));
    const map = new TransitionMap<(typeof clients)[0]>(
      ...(nodes.configs({
        createClient: (({ port }: { port: number }) =>
          clients[nodes.servers[0].port === port ? 0 : 1]) as never,
      }) as never as [ShardConfig<(typeof clients)[0]>, ShardConfig<(typeof clients)[0]>]),
    );
    const client = () => map.getClient(KEY);
    await client().hSet(KEY, { a: '1', b: '2' });
    expect(await nodes.old.hget(KEY, 'b')).toBe('2');
    await beginReshard(nodes.context, undefined);
    expect(await client().hGetAll(KEY)).toEqual({ a: '1', b: '2' });
    expect(await client().multi().hSet(KEY, 'c', '3').hLen(KEY).exec()).toEqual([1, 3]);
    expect(
      await client().eval('return redis.call("HGET", KEYS[1], "a")', { keys: [KEY], arguments: [] }),
    ).toBe('1');
    expect(await client().sendCommand(['HGET', KEY, 'c'])).toBe('3');
    const seen = [];
    for await (const some of client().hScanIterator(KEY)) seen.push(...some);
    expect(seen).toHaveLength(3);
    expect(await nodes.old.exists(KEY)).toBe(0);
    await map.close();
    for (const client of clients) client.destroy();
  });
});
