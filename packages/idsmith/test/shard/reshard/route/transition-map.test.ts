import { InvalidIdError, InvalidOptionError, StoreError } from 'idsmith';
import { type AnyClient, reshard, type ShardConfig, ShardMap, TransitionMap } from 'idsmith/shard';
import type { Redis } from 'ioredis';
import { createClient } from 'redis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { describeWith } from '../../../../../../test/services/index.ts';
import { beginReshard, finishReshard } from '../../../../src/shard/reshard/move/phase.ts';
import { OldNodeSession } from '../../../../src/shard/reshard/route/old-node-session.ts';
import { entriesOf, README_OPTIONS } from '../../start-shards.ts';
import { TwoNodeReshard } from '../two-node-context.ts';

const KEY = '1jyVFw3401';

await describeWith(['redis'], 'A map in transition', () => {
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

  const configs = (more: Partial<ShardConfig> = {}) =>
    nodes.servers.map((server) => ({
      shards: entriesOf([server]),
      options: { ...README_OPTIONS, maxSkew: 50 },
      ...more,
    })) as [ShardConfig, ShardConfig];

  /** A map on which every key goes from the old node to the new one. */
  function transition(more: Partial<ShardConfig> = {}): TransitionMap {
    const map = new TransitionMap(...configs(more));
    maps.push(map);
    return map;
  }

  const plainMap = (which: 0 | 1) => {
    const map = new ShardMap(configs()[which]);
    maps.push(map);
    return map;
  };

  const members = async () =>
    Object.keys(await nodes.old.hgetall('idsmith:reshard')).filter((field) => field.startsWith('member:'))
      .length;

  it('is the old map until the resharding begins, beside processes with the old map', async () => {
    const [map, old] = [transition(), plainMap(0)];
    await map.getClient(KEY).set(KEY, 'a');
    expect(await nodes.old.get(KEY)).toBe('a');
    expect(await old.getClient(KEY).get(KEY)).toBe('a');
    await old.getClient(KEY).append(KEY, 'b');
    expect(await map.getClient(KEY).get(KEY)).toBe('ab');
    expect(new Set([await map.genKey(), await old.genKey(), await map.genKey()]).size).toBe(3);
    expect(await nodes.next.keys('*')).toEqual([]);
  });

  it('is the new map afterwards, and needs no key to be moved by anybody else', async () => {
    const map = transition();
    await map.getClient(KEY).set(KEY, 'a', 'EX', 100);
    await beginReshard(nodes.context, undefined);
    expect(await map.getClient(KEY).append(KEY, 'b')).toBe(2);
    expect(await nodes.whereabouts(KEY)).toEqual({ old: null, next: 'ab', lists: 0 });
    expect(await nodes.next.ttl(KEY)).toBeGreaterThan(98);
    await nodes.next.set(KEY, 'c');
    expect(await map.getClient(KEY).get(KEY)).toBe('c');
    await finishReshard(nodes.context);
    expect(await transition().getClient(KEY).get(KEY)).toBe('c');
  });

  it('mints on the old nodes, then on the new ones, and no key twice', async () => {
    const map = transition();
    const keys = await map.genKeys('user', 1000);
    const minting = (async () => {
      while ((await nodes.old.hget('idsmith:reshard', 'phase')) !== 'done')
        keys.push(await map.genKey('user'), ...(await map.genKeys(undefined, 10)));
    })();
    await reshard(nodes.from, nodes.to);
    await minting;
    keys.push(...(await map.genKeys('user', 1000)), ...(await plainMap(1).genKeys('user', 1000)));
    expect(new Set(keys).size).toBe(keys.length);
    await expect(plainMap(0).genKey()).rejects.toThrow('handed over');
  });

  it('keeps the order of commands that nobody waits for, while their key is moved', async () => {
    const map = transition();
    const pushes: Promise<number>[] = [];
    let beginning: Promise<number> | undefined;
    for (let i = 0; i < 3000; i++) {
      pushes.push(map.getClient(KEY).rpush(KEY, i));
      if (i === 1000) beginning = beginReshard(nodes.context, undefined);
      if (i % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await beginning;
    expect(await Promise.all(pushes)).toEqual(Array.from({ length: 3000 }, (_, i) => i + 1));
    expect(await map.getClient(KEY).lrange(KEY, 0, -1)).toEqual(
      Array.from({ length: 3000 }, (_, i) => String(i)),
    );
    expect(await nodes.old.exists(KEY)).toBe(0);
  });

  it('lets the resharding begin only when what was sent before has been answered', async () => {
    const session = new OldNodeSession(nodes.change.source, nodes.context.reshardId, 'me');
    expect(await session.open()).toBe('old owner');
    const events: string[] = [];
    let answer = () => {};
    session.track(
      new Promise<void>((resolve) => {
        answer = () => {
          events.push('answered');
          resolve();
        };
      }),
    );
    const beginning = beginReshard(nodes.context, undefined).then(() => events.push('begun'));
    // It notices, lets nothing new pass, and stays signed on.
    await vi.waitFor(() => expect(session.destination).toBeUndefined());
    const later = session.open().then((destination) => events.push(destination));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await members()).toBe(1);
    expect(events).toEqual([]);
    answer();
    await Promise.all([beginning, later]);
    expect(events[0]).toBe('answered');
    expect(events.slice(1).sort()).toEqual(['begun', 'new owner']);
    await session.close();
  });

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

  it('that was ended without a word is waited for, for a while, and then reported', async () => {
    const [seconds, micros] = await nodes.old.time();
    const now = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
    await nodes.old.hset('idsmith:reshard', 'member:killed', now - 9700);
    const started = Date.now();
    expect(await beginReshard(nodes.context, undefined)).toBe(1);
    expect(Date.now() - started).toBeGreaterThan(150);
  });

  it('goes on as before when whoever was about to begin was ended', async () => {
    const map = transition();
    await map.getClient(KEY).set(KEY, 'a');
    const [seconds, micros] = await nodes.old.time();
    const since = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000) - 1500;
    const { reshardId } = nodes.context;
    await nodes.old.hset('idsmith:reshard', {
      move: reshardId,
      phase: 'preparing',
      since,
      about: 'x',
    });
    await vi.waitFor(async () => expect(await members()).toBe(0));
    expect(await map.getClient(KEY).append(KEY, 'b')).toBe(2);
    expect(await nodes.old.get(KEY)).toBe('ab');
    await beginReshard(nodes.context, undefined);
    expect(await map.getClient(KEY).get(KEY)).toBe('ab');
    expect(await nodes.next.get(KEY)).toBe('ab');
  });

  it('signs off when it is closed', async () => {
    const map = transition();
    await map.getClient(KEY).set(KEY, 'a');
    expect(await members()).toBe(1);
    await map.close();
    expect(await members()).toBe(0);
    expect(() => map.getClient(KEY)).toThrow(StoreError);
  });

  it('fails with an error that names the node and the other resharding', async () => {
    const map = transition();
    await map.getClient(KEY).set(KEY, 'a');
    await nodes.old.hset('idsmith:reshard', { move: 'another', phase: 'moving', about: 'four → five' });
    const error = await vi.waitFor(async () => {
      const error = await map
        .getClient(KEY)
        .get(KEY)
        .catch((error: Error) => error);
      expect(error).toBeInstanceOf(StoreError);
      return error as StoreError;
    });
    expect(error.message).toBe(
      `node 127.0.0.1:${nodes.servers[0].port}: another resharding is not finished (four → five): run that one again first`,
    );
  });

  it('names a node that is down', async () => {
    const map = transition();
    await beginReshard(nodes.context, undefined);
    await nodes.servers[0].kill();
    nodes.old.on('error', () => {});
    const error = await map
      .getClient(KEY)
      .get(KEY)
      .catch((error: Error) => error);
    await nodes.servers[0].start();
    expect(error).toBeInstanceOf(StoreError);
    expect(error.message).toContain(`node 127.0.0.1:${nodes.servers[0].port}: `);
  });

  it('is of two maps, and says what is wrong with one', () => {
    const [from, to] = configs();
    expect(() => new TransitionMap({ ...from, shards: {} }, to)).toThrow(InvalidOptionError);
    expect(() => new TransitionMap(from, { ...to, options: { seqname: 'x' } })).toThrow(
      'seqname must stay $equence',
    );
    expect(() => transition().getClient('bad')).toThrow(InvalidIdError);
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
      // Bit by bit.
      const fields = [];
      for await (const some of client.hscanStream(`${KEY}-hash`, { count: 50 })) fields.push(...some);
      expect(fields).toHaveLength(1200);
      // What is about no key.
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
      ...(configs({
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

  it('brings keys that only their owner knows of', async () => {
    const map = transition();
    await nodes.old.mset(KEY, 'a', `${KEY}-b`, 'b');
    await map.settle(KEY);
    expect(await nodes.old.exists(KEY)).toBe(1);
    await beginReshard(nodes.context, undefined);
    await map.settle(KEY, `${KEY}-b`, '1jyVFw3501');
    expect(await nodes.old.exists(KEY, `${KEY}-b`)).toBe(0);
    expect(await nodes.next.mget(KEY, `${KEY}-b`)).toEqual(['a', 'b']);
  });

  it('of many processes that use the same keys at once loses nothing', async () => {
    const [first, second, third] = [transition(), transition(), transition()];
    const keys = Array.from({ length: 50 }, (_, i) => first.fixedKey(8_000_000 + i, i, 2));
    for (const key of keys) await nodes.old.set(key, '0');
    await beginReshard(nodes.context, undefined);
    await Promise.all(
      [first, second, third].flatMap((map) =>
        [...keys, ...keys].map((key) => map.getClient(key).incr(key) as Promise<number>),
      ),
    );
    expect(await nodes.next.mget(keys)).toEqual(keys.map(() => '6'));
    expect(await nodes.old.exists(...keys)).toBe(0);
    expect(await nodes.old.exists('idsmith:reshard:out')).toBe(0);
    expect(await nodes.next.exists('idsmith:reshard:in')).toBe(0);
  });
});
