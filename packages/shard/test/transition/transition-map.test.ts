import { reshard, ShardMap, TransitionMap } from '@idsmith/shard';
import { InvalidIdError, InvalidOptionError, StoreError } from 'idsmith';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith } from '#services';
import { beginReshard, finishReshard } from '../../src/reshard/phase.ts';
import { KEY, TwoNodeReshard } from '../reshard/two-node-reshard.ts';

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

  /** A map that moves every key from the old node to the new one. */
  function transition(): TransitionMap {
    const map = new TransitionMap(...nodes.configs());
    maps.push(map);
    return map;
  }

  const plainMap = (which: 0 | 1) => {
    const map = new ShardMap(nodes.configs()[which]);
    maps.push(map);
    return map;
  };

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

  it('is the new map afterwards, and moves the keys that it uses by itself', async () => {
    const map = transition();
    await map.getClient(KEY).set(KEY, 'a', 'EX', 1000);
    await nodes.begin();
    expect(await map.getClient(KEY).append(KEY, 'b')).toBe(2);
    expect(await nodes.whereabouts(KEY)).toEqual({ old: null, next: 'ab', lists: 0 });
    expect(await nodes.next.ttl(KEY)).toBeGreaterThan(900);
    await nodes.next.set(KEY, 'c');
    expect(await map.getClient(KEY).get(KEY)).toBe('c');
    await finishReshard(nodes.context, nodes.round);
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

  it('keeps the order of commands that are sent without waiting, while their key is moved', async () => {
    const map = transition();
    const pushes: Promise<number>[] = [];
    let beginning: Promise<void> | undefined;
    for (let i = 0; i < 3000; i++) {
      pushes.push(map.getClient(KEY).rpush(KEY, i));
      if (i === 1000) beginning = nodes.begin();
      if (i % 50 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await beginning;
    expect(await Promise.all(pushes)).toEqual(Array.from({ length: 3000 }, (_, i) => i + 1));
    expect(await map.getClient(KEY).lrange(KEY, 0, -1)).toEqual(
      Array.from({ length: 3000 }, (_, i) => String(i)),
    );
    expect(await nodes.old.exists(KEY)).toBe(0);
  });

  it('fails with an error that names the node and the other resharding', async () => {
    const map = transition();
    await map.getClient(KEY).set(KEY, 'a');
    await nodes.old.hset('idsmith:reshard', { move: 'another', phase: 'moving', about: 'four → five' });
    const answer = () =>
      map
        .getClient(KEY)
        .get(KEY)
        .catch((error: Error) => error);
    await expect.poll(answer).toBeInstanceOf(StoreError);
    expect((await answer()).message).toBe(
      `node 127.0.0.1:${nodes.servers[0].port}: another resharding is not finished (four → five), and this one is ` +
        `127.0.0.1:${nodes.servers[0].port} → 127.0.0.1:${nodes.servers[1].port}: use its configs, and run that one to its end ` +
        'or abort it first',
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

  it('checks both configs', () => {
    const [from, to] = nodes.configs();
    expect(() => new TransitionMap({ ...from, shards: {} }, to)).toThrow(InvalidOptionError);
    expect(() => new TransitionMap(from, { ...to, options: { seqname: 'x' } })).toThrow(
      'seqname must stay $equence',
    );
    expect(() => transition().getClient('bad')).toThrow(InvalidIdError);
  });

  it('moves keys on settle, for commands that do not name them', async () => {
    const map = transition();
    await nodes.old.mset(KEY, 'a', `${KEY}-b`, 'b');
    await map.settle(KEY);
    expect(await nodes.old.exists(KEY)).toBe(1);
    await beginReshard(nodes.context, undefined);
    await map.settle(KEY, `${KEY}-b`, '1jyVFw3501');
    expect(await nodes.old.exists(KEY, `${KEY}-b`)).toBe(0);
    expect(await nodes.next.mget(KEY, `${KEY}-b`)).toEqual(['a', 'b']);
  });

  it('loses nothing when many processes use the same keys at once', async () => {
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
