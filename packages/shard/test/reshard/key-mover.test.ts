import { StoreError } from 'idsmith';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeWith } from '#services';
import type { OwnerChange } from '../../src/reshard/context.ts';
import type { NodeConnection } from '../../src/reshard/node-connection.ts';
import type { AfterStep } from '../../src/reshard/options.ts';
import type { RedisKey } from '../../src/reshard/redis-keys.ts';
import { KEY, TwoNodeReshard } from './two-node-reshard.ts';

type Step = Parameters<AfterStep>[0];

/** Runs an event after one of the steps. */
const at =
  (point: Step, event: () => unknown): AfterStep =>
  async (step) => {
    if (step === point) await event();
  };

await describeWith(['redis'], 'Moving a key', () => {
  let nodes: TwoNodeReshard;

  beforeAll(async () => {
    nodes = await TwoNodeReshard.start();
  });
  beforeEach(() => nodes.beginReshard());
  afterAll(() => nodes?.stop());

  const move = (afterStep?: AfterStep) => nodes.move(afterStep);
  const finishMove = () => nodes.finishMove();
  const set = (value: string) => nodes.old.set(KEY, value);

  /** Kills a mover after a step, as kill -9 does. */
  async function killedAt(point: Step): Promise<void> {
    const killed = await move(at(point, () => Promise.reject(new Error('killed')))).catch((error) => error);
    expect(killed.message).toBe('killed');
  }

  it('takes it from the old owner to the new one', async () => {
    await set('a');
    expect(await move()).toMatchObject({ keys: 1, superseded: 0, again: [], lost: [] });
    expect(await nodes.whereabouts(KEY)).toEqual({ old: null, next: 'a', lists: 0 });
  });

  it('does nothing when there is none', async () => {
    expect(await move()).toMatchObject({ keys: 0, superseded: 0, again: [], lost: [] });
    expect(await nodes.whereabouts(KEY)).toEqual({ old: null, next: null, lists: 0 });
  });

  it('keeps its TTL, also when the mover was stopped in between', async () => {
    await nodes.old.set(KEY, 'a', 'PX', 600_000);
    const expiry = await nodes.old.pexpiretime(KEY);
    await move(at('taken', () => new Promise((resolve) => setTimeout(resolve, 300))));
    // Both nodes have the same clock here, so the time at which the key expires stays the same.
    expect(await nodes.next.pexpiretime(KEY)).toBe(expiry);
  });

  it('goes on without it when it expires on the way', async () => {
    await nodes.old.set(KEY, 'a', 'PX', 100);
    const expired = async () => {
      while ((await nodes.old.exists(KEY)) === 1) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    await move(at('put', expired));
    await finishMove();
    expect(await nodes.whereabouts(KEY)).toEqual({ old: null, next: null, lists: 0 });
  });

  it('carries values of many kinds as they are', async () => {
    const { old, next } = nodes;
    await old.set('1jyVFw3401-bytes', Buffer.from([0, 255, 254, 10, 13]));
    await old.set('1jyVFw3401-empty', '');
    await old.rpush('1jyVFw3401-list', ...Array.from({ length: 1000 }, (_, i) => `item ${i}`));
    await old.sadd('1jyVFw3401-set', ...Array.from({ length: 1000 }, (_, i) => `member ${i}`));
    await old.zadd('1jyVFw3401-sorted', ...Array.from({ length: 1000 }, (_, i) => [i / 3, `m${i}`]).flat());
    await old.hset(
      '1jyVFw3401-hash',
      Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`f${i}`, i])),
    );
    await old.xadd('1jyVFw3401-stream', '1-1', 'a', 'b');
    await old.xgroup('CREATE', '1jyVFw3401-stream', 'readers', '0');
    await old.xreadgroup('GROUP', 'readers', 'me', 'STREAMS', '1jyVFw3401-stream', '>');
    const keys = ['bytes', 'empty', 'list', 'set', 'sorted', 'hash', 'stream'].map(
      (kind) => `${KEY}-${kind}`,
    );
    const digest = (client: typeof old) =>
      Promise.all(keys.map((key) => client.call('DEBUG', 'DIGEST-VALUE', key)));
    const before = await digest(old).catch(() => undefined);
    const { keys: moved } = await nodes.mover().move(nodes.change, keys);
    expect(moved).toBe(7);
    if (before !== undefined) expect(await digest(next)).toEqual(before);
    expect(await next.getBuffer('1jyVFw3401-bytes')).toEqual(Buffer.from([0, 255, 254, 10, 13]));
    expect(await next.lindex('1jyVFw3401-list', 999)).toBe('item 999');
    expect(await next.scard('1jyVFw3401-set')).toBe(1000);
    expect(await next.zscore('1jyVFw3401-sorted', 'm999')).toBe('333');
    expect(await next.hget('1jyVFw3401-hash', 'f999')).toBe('999');
    const [summary] = (await next.xpending('1jyVFw3401-stream', 'readers', '-', '+', 10)) as unknown[][];
    expect(summary?.slice(0, 2)).toEqual(['1-1', 'me']);
    expect(await old.exists(...keys)).toBe(0);
  });

  describe.each<Step>(['claimed', 'taken', 'put', 'dropped', 'settled'])('ended after %s', (point) => {
    it('is finished by the next mover', async () => {
      await nodes.old.set(KEY, 'a', 'PX', 600_000);
      const expiry = await nodes.old.pexpiretime(KEY);
      await killedAt(point);
      const { old, next } = await nodes.whereabouts(KEY);
      expect(old ?? next).toBe('a');
      await finishMove();
      expect(await nodes.whereabouts(KEY)).toEqual({ old: null, next: 'a', lists: 0 });
      expect(await nodes.next.pexpiretime(KEY)).toBe(expiry);
    });

    it('is finished with what a client of the old owner wrote since, as long as the key was there', async () => {
      await set('a');
      await killedAt(point);
      if ((await nodes.old.exists(KEY)) === 1) await set('b');
      else await nodes.next.set(KEY, 'b');
      await finishMove();
      expect(await nodes.whereabouts(KEY)).toEqual({ old: null, next: 'b', lists: 0 });
    });

    it('is finished without bringing back what was deleted since', async () => {
      await set('a');
      await killedAt(point);
      if ((await nodes.old.del(KEY)) === 0) await nodes.next.del(KEY);
      await finishMove();
      expect(await nodes.whereabouts(KEY)).toEqual({ old: null, next: null, lists: 0 });
    });

    it('is finished with the value that the new owner was given since', async () => {
      await set('a');
      await killedAt(point);
      await nodes.next.set(KEY, 'c');
      await finishMove();
      expect(await nodes.whereabouts(KEY)).toEqual({ old: null, next: 'c', lists: 0 });
    });

    it('lets another mover move it meanwhile, and does no harm when it continues', async () => {
      await set('a');
      // A whole move by another, then the application changes the value.
      await move(
        at(point, async () => {
          await finishMove();
          await nodes.next.set(KEY, 'b');
        }),
      );
      await finishMove();
      expect(await nodes.whereabouts(KEY)).toEqual({ old: null, next: 'b', lists: 0 });
    });

    it('lets another mover move it meanwhile, and does not bring back a value that is deleted then', async () => {
      await set('a');
      await move(
        at(point, async () => {
          await finishMove();
          await nodes.next.del(KEY);
        }),
      );
      expect(await nodes.whereabouts(KEY)).toEqual({ old: null, next: null, lists: 0 });
    });

    it('carries over what is written to the old owner meanwhile', async () => {
      await set('a');
      let isThere = false;
      await move(
        at(point, async () => {
          isThere = (await nodes.old.exists(KEY)) === 1;
          if (isThere) await set('b');
        }),
      );
      await finishMove();
      expect(await nodes.whereabouts(KEY)).toEqual({ old: null, next: isThere ? 'b' : 'a', lists: 0 });
    });

    it('carries over a TTL that is set meanwhile', async () => {
      await set('a');
      let isSet = 0;
      await move(
        at(point, async () => {
          isSet = await nodes.old.pexpire(KEY, 50_000);
        }),
      );
      await finishMove();
      expect(await nodes.next.pttl(KEY)).toBeGreaterThan(isSet === 1 ? 40_000 : -2);
      expect(await nodes.whereabouts(KEY)).toEqual({ old: null, next: 'a', lists: 0 });
    });

    it('deletes what is deleted on the old owner meanwhile', async () => {
      await set('a');
      let isDeleted = 0;
      await move(
        at(point, async () => {
          isDeleted = await nodes.old.del(KEY);
        }),
      );
      await finishMove();
      expect(await nodes.whereabouts(KEY)).toEqual({
        old: null,
        next: isDeleted === 1 ? null : 'a',
        lists: 0,
      });
    });

    it('leaves what is written to the new owner meanwhile', async () => {
      await set('a');
      await move(at(point, () => nodes.next.set(KEY, 'c')));
      await finishMove();
      expect(await nodes.whereabouts(KEY)).toEqual({ old: null, next: 'c', lists: 0 });
    });
  });

  it('leaves what the new owner is given after an old client has deleted it', async () => {
    await set('a');
    await move(async (step) => {
      if (step === 'put') await nodes.old.del(KEY);
      if (step === 'dropped') await nodes.next.set(KEY, 'c');
    });
    expect(await nodes.whereabouts(KEY)).toEqual({ old: null, next: 'c', lists: 0 });
  });

  it('is not undone by a command that reaches its node a second time', async () => {
    for (const late of ['claiming keys', 'reading keys', 'writing keys', 'deleting keys', 'settling keys']) {
      await nodes.beginReshard();
      await set('a');
      const repeats: (() => Promise<unknown>)[] = [];
      const heard = ({ source, target }: OwnerChange): OwnerChange => ({
        source: listen(source),
        target: listen(target),
      });
      const listen = (node: NodeConnection): NodeConnection =>
        Object.assign(Object.create(node) as NodeConnection, {
          run: (...args: Parameters<NodeConnection['run']>) => {
            if (late.startsWith(args[0])) repeats.push(() => node.run(...args));
            return node.run(...args);
          },
        });
      const stopped = at('dropped', async () => {
        // The application goes on as soon as it may.
        await nodes.next.del(KEY);
        for (const repeat of repeats) await repeat();
      });
      await nodes.mover(stopped).move(heard(nodes.change), [KEY]);
      for (const repeat of repeats) await repeat();
      await finishMove();
      expect(await nodes.whereabouts(KEY), late).toEqual({ old: null, next: null, lists: 0 });
    }
  });

  it('that changes among many is moved again with its neighbours, and each value arrives as it is then', async () => {
    const keys = Array.from({ length: 100 }, (_, i) => `${KEY}-${i}`);
    const bytes = Buffer.from([0, 255, 10, 61, 32]);
    for (const key of keys) await nodes.old.set(key, `of ${key}`);
    await nodes.old.del(keys[10] as string);
    await nodes.old.hset(keys[10] as string, 'a', 'b');
    await nodes.old.set(keys[11] as string, 'c', 'PX', 60_000);
    await nodes.old.set(keys[12] as string, bytes);
    await nodes.old.set(keys[13] as string, 'long '.repeat(100));
    const changed = async () => {
      await nodes.old.set(keys[3] as string, 'new');
      await nodes.old.del(keys[4] as string);
    };
    const first = await nodes.mover(at('put', changed)).move(nodes.change, keys);
    expect([first.keys, first.again.length]).toEqual([68, 31]);
    const second = await nodes.mover().move(nodes.change, first.again, true);
    expect(second).toMatchObject({ keys: 31, superseded: 0, again: [], lost: [] });
    const plain = keys.filter((_, i) => i < 10 || i > 13);
    expect(await nodes.next.mget(plain)).toEqual(
      plain.map((key, i) => (i === 3 ? 'new' : i === 4 ? null : `of ${key}`)),
    );
    expect(await nodes.next.hgetall(keys[10] as string)).toEqual({ a: 'b' });
    expect(await nodes.next.pttl(keys[11] as string)).toBeGreaterThan(50_000);
    expect(await nodes.next.getBuffer(keys[12] as string)).toEqual(bytes);
    expect(await nodes.next.get(keys[13] as string)).toBe('long '.repeat(100));
    expect(await nodes.old.exists(...keys)).toBe(0);
    expect(await nodes.whereabouts(KEY)).toMatchObject({ lists: 0 });
  });

  it('is recognised as a copy after the mover was killed, whatever its bytes, and a value of the new owner is not', async () => {
    const bytes = Buffer.from([0, 255, 10, 61, 32]);
    await nodes.old.set(KEY, bytes);
    await nodes.old.set(`${KEY}-long`, 'long '.repeat(100));
    await nodes.old.set(`${KEY}-own`, 'a');
    const keys = [KEY, `${KEY}-long`, `${KEY}-own`];
    const killed = at('put', async () => {
      await nodes.next.set(`${KEY}-own`, 'b');
      throw new Error('killed');
    });
    await expect(nodes.mover(killed).move(nodes.change, keys)).rejects.toThrow('killed');
    expect(await nodes.mover().move(nodes.change, keys)).toMatchObject({ keys: 2, superseded: 1 });
    expect(await nodes.next.getBuffer(KEY)).toEqual(bytes);
    expect(await nodes.next.mget(keys.slice(1))).toEqual(['long '.repeat(100), 'b']);
    expect(await nodes.whereabouts(KEY)).toMatchObject({ lists: 0 });
  });

  it('goes on in the next round trip when the values are large', async () => {
    // Of random bytes, which cannot be compressed.
    const large = Buffer.from(crypto.getRandomValues(new Uint8Array(60_000)).buffer)
      .toString('base64')
      .repeat(2);
    const keys = Array.from({ length: 8 }, (_, i) => `${KEY}-${i}`);
    for (const key of keys) await nodes.old.set(key, `${large}${key}`);
    const mover = nodes.mover();
    let left: RedisKey[] = keys;
    let trips = 0;
    for (; left.length > 0 && trips < 10; trips++) left = (await mover.move(nodes.change, left)).again;
    expect(trips).toBeGreaterThan(1);
    const values = await nodes.next.mget(keys);
    expect(values.map((value, i) => value === `${large}${keys[i]}`)).toEqual(keys.map(() => true));
    expect(await nodes.old.exists(...keys)).toBe(0);
  });

  it('fails with an error that names the node when the new owner refuses it', async () => {
    await set('a'.repeat(10_000));
    await nodes.next.config('SET', 'maxmemory', '1');
    const refused = await move().catch((error) => error);
    await nodes.next.config('SET', 'maxmemory', '0');
    expect(refused).toBeInstanceOf(StoreError);
    expect(refused.message).toContain(`node 127.0.0.1:${nodes.servers[1].port}`);
    expect(await nodes.old.exists(KEY)).toBe(1);
    await finishMove();
    expect(await nodes.old.exists(KEY)).toBe(0);
  });

  it('fails when another resharding has begun', async () => {
    await set('a');
    await nodes.old.hset('idsmith:reshard', 'move', 'another');
    await expect(move()).rejects.toThrow('another resharding has begun there');
    expect(await nodes.old.get(KEY)).toBe('a');
  });
});
