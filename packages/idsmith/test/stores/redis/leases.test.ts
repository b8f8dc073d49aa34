import { inspect } from 'node:util';
import { ClosedError, InvalidOptionError, type LeaseRecord, StoreError } from 'idsmith';
import { leaseStoreCases, sequenceStoreCases } from 'idsmith/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith, type RedisServer, startRedis } from '#services';
import { initStore } from '../../../src/stores/init.ts';
import { openRedis } from '../../../src/stores/redis/open.ts';
import { type RedisStoreOptions, redisStore } from '../../../src/stores/redis/store.ts';
import type { Store } from '../../../src/stores/store.ts';
import { DRIVERS } from '../../support/drivers.ts';

const HELD: LeaseRecord = { id: 0, owner: 'a', epoch: 1, fence: 1000, expiresAt: 2000, label: 'host 1' };

/** A store, another one on the same client that waits for a short time only, and a function that ends the client. */
interface Opened {
  readonly store: Store;
  readonly hasty: Store;
  readonly end: () => void;
}

/** Opens a store with clients that have the settings of the documentation: they fail soon, and never send a command twice. */
async function openWith(driver: string, url: string, options?: RedisStoreOptions): Promise<Opened> {
  const { client, end } = await DRIVERS[driver]!(Number(new URL(url).port));
  return { store: redisStore(client, options), hasty: redisStore(client, { ...options, timeout: 200 }), end };
}

/** With this driver the cases wait as long as a namespace of a store that can forget makes them wait, with the others not. */
const PATIENT = 'ioredis 6.0.0';

for (const name of Object.keys(DRIVERS)) {
  await describeWith(['redis'], `The Redis store with a client of ${name}`, () => {
    let server: RedisServer;
    let opened: Opened;

    beforeAll(async () => {
      server = await startRedis({ persistence: 'aof' });
      const options = name === PATIENT ? { maxTtl: 6000 } : { durable: true };
      opened = await openWith(name, server.url, { timeout: 5000, ...options });
      await initStore(opened.store);
    });

    afterAll(async () => {
      opened?.end();
      await server?.stop();
    });

    for (const { name, run } of leaseStoreCases(() => opened.store)) it(name, run);
    for (const { name, run } of sequenceStoreCases(() => opened.store)) it(name, run);

    it('still works after the server has flushed its scripts', async () => {
      await opened.store.swapLease('flush', undefined, HELD);
      await server.command('SCRIPT', 'FLUSH');
      expect(await opened.store.listLeases('flush')).toEqual([HELD]);
      await server.command('SCRIPT', 'FLUSH');
      expect(await opened.store.swapLease('flush', HELD, { ...HELD, epoch: 2 })).toBe(true);
    });

    it('keeps namespaces with braces apart, each in one Cluster slot of its own', async () => {
      const names = ['{', '}', '{}', '}{', '{x', 'x}', '{x}', '%7Bx%7D', '{}x'];
      for (const [i, name] of names.entries())
        await opened.store.swapLease(name, undefined, { ...HELD, fence: i });
      for (const [i, name] of names.entries())
        expect(await opened.store.listLeases(name)).toEqual([{ ...HELD, fence: i }]);
    });

    it('fails with a StoreError soon after the server was killed, and works again when it is back', async () => {
      await server.kill();
      const failure = await opened.store.swapLease('killed', undefined, HELD).catch((error) => error);
      expect(failure).toBeInstanceOf(StoreError);
      expect(failure.message).toMatch(/^redis store: listing a namespace failed: ./);
      expect(failure.cause).toBeInstanceOf(Error);
      await server.restart();
      await expect.poll(() => opened.store.listLeases('killed').catch(String)).toEqual([]);
      expect(await opened.store.swapLease('killed', undefined, HELD)).toBe(true);
    });

    it('fails with a StoreError when the server does not answer', async () => {
      server.pause();
      await expect(opened.hasty.listLeases('paused')).rejects.toBeInstanceOf(StoreError);
      server.resume();
      await expect.poll(() => opened.store.listLeases('paused').catch(String)).toEqual([]);
    });
  });
}

await describeWith(['redis'], 'The data of the Redis store', () => {
  const namespace = 'memory';

  /** A server with AOF and the record `HELD`. */
  async function startHolding(options?: RedisStoreOptions): Promise<Opened & { server: RedisServer }> {
    const server = await startRedis({ persistence: 'aof' });
    const opened = await openWith('ioredis 6.0.0', server.url, options);
    await opened.store.swapLease(namespace, undefined, HELD);
    return { ...opened, server };
  }

  const listed = (store: Store) => expect.poll(() => store.listLeases(namespace).catch(String));

  it('is gone after a restart without it', async () => {
    const { store, server, end } = await startHolding();
    await server.restart({ empty: true });
    await listed(store).toEqual([]);
    expect(await store.swapLease(namespace, HELD, { ...HELD, epoch: 2 })).toBe(false);
    end();
    await server.stop();
  });

  it('is there after a restart with it: holders renew, and nobody claims before the namespace is founded again', async () => {
    const { store, server, end } = await startHolding();
    const { lineage } = await store.moment!(namespace);
    const birth = { ...HELD, id: -1, owner: 'born', label: lineage! };
    expect(await store.swapLease(namespace, undefined, birth)).toBe(true);
    await server.restart();
    const renewed = { ...HELD, owner: 'later', fence: 3000 };
    const claimed = { ...HELD, id: 1 };
    await expect.poll(() => store.swapLease(namespace, HELD, renewed).catch(String)).toBe(true);
    expect(await store.swapLease(namespace, undefined, claimed)).toBe(false);
    expect(await store.swapLease(namespace, renewed, { ...renewed, owner: 'b', epoch: 2 })).toBe(false);
    expect(await store.claimLease!(namespace, undefined, claimed, birth)).toBe(false);
    expect(await store.swapLease(namespace, birth, { ...birth, owner: 'late' })).toBe(false);
    const again = { ...birth, owner: 'again', label: (await store.moment!(namespace)).lineage! };
    expect(again.label).not.toBe(lineage);
    expect(await store.swapLease(namespace, birth, again)).toBe(true);
    expect(await store.claimLease!(namespace, undefined, claimed, birth)).toBe(false);
    expect(await store.claimLease!(namespace, undefined, claimed, again)).toBe(true);
    end();
    await server.stop();
  });

  it('stays after a restart if the store is durable', async () => {
    const { store, server, end } = await startHolding({ durable: true });
    await server.restart();
    await listed(store).toEqual([HELD]);
    expect(await store.swapLease(namespace, HELD, { ...HELD, epoch: 2 })).toBe(true);
    end();
    await server.stop();
  });

  it('has another lineage after a failover there and back, although the first master never stopped running', async () => {
    const [one, two] = await Promise.all([startRedis(), startRedis()]);
    const follow = async (replica: RedisServer, master: RedisServer) => {
      await replica.command('REPLICAOF', '127.0.0.1', master.port);
      await expect.poll(() => replica.command('INFO', 'replication')).toContain('master_link_status:up');
    };
    const key = `idsmith:lease:{${namespace}}`;
    const newer = { ...HELD, epoch: 2 };
    await follow(two, one);
    const { store, end } = await openWith('ioredis 6.0.0', one.url);
    const { lineage } = await store.moment!(namespace);
    await store.swapLease(namespace, undefined, HELD);
    await expect.poll(() => two.command('EXISTS', key)).toBe('1');
    await two.command('REPLICAOF', 'NO', 'ONE');
    expect(await store.swapLease(namespace, HELD, newer)).toBe(true);
    await follow(one, two);
    await expect(store.listLeases(namespace)).rejects.toThrow(/READONLY/);
    await expect(store.swapLease(namespace, undefined, newer)).rejects.toThrow(/READONLY/);
    await one.command('REPLICAOF', 'NO', 'ONE');
    expect((await store.moment!(namespace)).lineage).not.toBe(lineage);
    expect(await store.listLeases(namespace)).toEqual([HELD]);
    expect(await store.swapLease(namespace, newer, { ...HELD, epoch: 3 })).toBe(false);
    end();
    await Promise.all([one.stop(), two.stop()]);
  });

  it('is used by a store that a URL opens and closes', async () => {
    const server = await startRedis();
    const store = await openRedis(`${server.url}/1?maxTtl=20000`);
    expect(store).toMatchObject({ durable: false, maxTtl: 20_000 });
    expect(await store.swapLease(namespace, undefined, HELD)).toBe(true);
    await store.close();
    await expect(store.listLeases(namespace)).rejects.toBeInstanceOf(ClosedError);
    const durable = await openRedis(`${server.url}/1?durable=true`);
    expect(durable).toMatchObject({ durable: true });
    expect(durable).not.toHaveProperty('maxTtl');
    expect(await durable.listLeases(namespace)).toEqual([HELD]);
    await durable.close();
    await server.stop();
  });
});

await describeWith(['redis'], 'A failed login', () => {
  it('shows the password neither in the error nor in its cause', async () => {
    const server = await startRedis({ args: ['--requirepass', 'right'] }).catch((error) => error);
    const store = await openRedis(`redis://:wrong-password@127.0.0.1:${server.port}`);
    const failure = await store.listLeases('any').catch((error) => error);
    expect(failure).toBeInstanceOf(StoreError);
    expect(failure.message).toMatch(/WRONGPASS|NOAUTH/);
    expect(inspect(failure, { depth: 10 })).not.toContain('wrong-password');
    await store.close();
    await server.stop();
  });
});

describe('The Redis store refuses', () => {
  const silent = { eval: async () => [], evalsha: async () => [] };

  it.each([
    'http://h',
    'redis://',
    'redis:h',
    'nonsense',
    'redis://:secret@h:99999999',
    'rediss://u:secret@h/?maxTtl=0',
    'redis://u:secret@h/?maxTtl=',
    'redis://u:secret@h/?durable=maybe',
    'redis://u:secret@h/?durabel=true',
  ])('the URL %s, without showing its password', async (url) => {
    const failure = await openRedis(url).catch((error) => error);
    expect(failure).toBeInstanceOf(InvalidOptionError);
    expect(failure.message).not.toContain('secret');
  });

  it('a client of no driver, and options out of range', () => {
    expect(() => redisStore({} as never)).toThrow(InvalidOptionError);
    expect(() => redisStore(undefined as never)).toThrow(InvalidOptionError);
    expect(() => redisStore(silent, { maxTtl: 0 })).toThrow(InvalidOptionError);
    expect(() => redisStore(silent, { timeout: 2 ** 31 })).toThrow(InvalidOptionError);
    expect(() => redisStore(silent, { durable: 'yes' as never })).toThrow(InvalidOptionError);
  });

  it.each([
    ['nothing', ''],
    ['NUL', 'a\0b'],
    ['256 characters', 'x'.repeat(256)],
    ['half a character', 'a\ud800'],
  ])('a namespace of %s', async (_, namespace) => {
    const store = redisStore(silent);
    await expect(store.listLeases(namespace)).rejects.toBeInstanceOf(InvalidOptionError);
    await expect(store.swapLease(namespace, undefined, HELD)).rejects.toBeInstanceOf(InvalidOptionError);
  });
});
