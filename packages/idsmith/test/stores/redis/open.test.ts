import { inspect } from 'node:util';
import { ClosedError, InvalidOptionError, type LeaseRecord, StoreError } from 'idsmith';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith, type RedisServer, startRedis } from '#services';
import { FaultyProxy } from '../../../../verify/src/proxy/faulty-proxy.ts';
import type { RedisDriver } from '../../../src/stores/redis/drivers.ts';
import { beginConnection } from '../../../src/stores/redis/drivers.ts';
import { openRedis, openRedisWith } from '../../../src/stores/redis/open.ts';

const HELD: LeaseRecord = { id: 0, owner: 'a', epoch: 1, fence: 1000, expiresAt: 2000, label: 'host 1' };

/** Every driver that is supported, in its lowest and its highest version. */
const DRIVERS: Record<string, () => Promise<RedisDriver>> = {
  'redis 5': async () => ({ name: 'redis', redis: (await import('redis-5')) as never }),
  'redis 6': async () => ({ name: 'redis', redis: await import('redis') }),
  'ioredis 5': async () => ({ name: 'ioredis', ioredis: (await import('ioredis-5')) as never }),
  'ioredis 6': async () => ({ name: 'ioredis', ioredis: await import('ioredis') }),
};

const failureOf = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => expect.fail('it succeeded'),
    (error) => error,
  );
const shown = (error: unknown) => inspect(error, { depth: null, showHidden: true });

describe.each(Object.entries(DRIVERS))('openRedis with %s', (_name, driver) => {
  const open = async (url: string) => openRedisWith(await driver(), url);

  it('names the host, the port and the reason when the server is down, and no password', async () => {
    const store = await open('redis://app:hunter2@127.0.0.1:1/3');
    const failure = await failureOf(store.listLeases('x'));
    expect(failure).toBeInstanceOf(StoreError);
    expect(failure.message).toBe(
      'redis store: listing leases at 127.0.0.1:1 failed: connect ECONNREFUSED 127.0.0.1:1',
    );
    expect(shown(failure)).not.toContain('hunter2');
    await store.close();
    await expect(store.listLeases('x')).rejects.toThrow(ClosedError);
  });
});

for (const [name, driver] of Object.entries(DRIVERS))
  await describeWith(['redis'], `openRedis with ${name} and a server`, () => {
    let server: RedisServer;
    beforeAll(async () => {
      server = await startRedis({ persistence: 'aof' });
    });
    afterAll(() => server?.stop());
    const open = async (url: string) => openRedisWith(await driver(), url);

    it('uses the database of the URL, also after the connection was lost', async () => {
      const store = await open(`${server.url}/3?durable=true`);
      const zero = await open(`${server.url}/0?durable=true`);
      expect(await store.swapLease('x', undefined, HELD)).toBe(true);
      await server.restart();
      expect(await store.listLeases('x')).toEqual([HELD]);
      expect(await zero.listLeases('x')).toEqual([]);
      await Promise.all([store.close(), zero.close()]);
      await expect.poll(() => server.command('CLIENT', 'LIST')).not.toMatch(/db=3/);
    });

    it('refuses a database that the server does not have, by its number, and writes nothing elsewhere', async () => {
      const store = await open(`${server.url}/99`);
      const failure = await failureOf(store.swapLease('y', undefined, HELD));
      expect(failure).toBeInstanceOf(InvalidOptionError);
      expect(failure.message).toMatch(/refuses 99 \(ERR /);
      const zero = await open(server.url);
      expect(await zero.listLeases('y')).toEqual([]);
      await Promise.all([store.close(), zero.close()]);
    });

    it('shows no password when it is the wrong one', async () => {
      const store = await open(server.url.replace('//', '//app:hunter2@'));
      const failure = await failureOf(store.listLeases('x'));
      expect(failure).toBeInstanceOf(StoreError);
      expect(failure).toMatchObject({ reason: 'ACCESS_DENIED' });
      expect(failure.message).toMatch(/at 127\.0\.0\.1:\d+ failed: .*(WRONGPASS|ERR)/);
      expect(shown(failure)).not.toContain('hunter2');
      await store.close();
    });

    it('shares one connection among callers at the same time', async () => {
      const received = async () =>
        Number(/total_connections_received:(\d+)/.exec(await server.command('INFO', 'stats'))?.[1]);
      const before = await received();
      const store = await open(server.url);
      await Promise.all(Array.from({ length: 20 }, (_, i) => store.listLeases(`n${i}`)));
      // One for the store, and one for the question.
      expect(await received()).toBe(before + 2);
      await store.close();
    });

    it('gives a connection up that does not answer, and takes another', async () => {
      const proxy = await FaultyProxy.before(server.port);
      const store = openRedisWith(await driver(), `redis://127.0.0.1:${proxy.port}`, 500);
      // On a busy machine connecting may take longer than that.
      await expect.poll(() => store.listLeases('x').catch(String)).toEqual([]);
      proxy.halfOpen('everything');
      await expect(store.listLeases('x')).rejects.toThrow(/at 127\.0\.0\.1:\d+ failed: no answer within/);
      proxy.heal();
      await expect.poll(() => store.listLeases('x').catch(String)).toEqual([]);
      await store.close();
      await proxy.close();
    });

    it('ends its connection when it is closed in the middle of connecting', async () => {
      const { ready, connection } = beginConnection(await driver(), { url: server.url, database: 0 });
      await ready;
      expect(connection.isUp).toBe(true);
      connection.end();
      connection.end();
      await expect.poll(() => connection.isUp).toBe(false);
      const store = await open(server.url);
      const listing = store.listLeases('x').catch((error: unknown) => error);
      await store.close();
      await listing;
      await expect.poll(() => server.command('CLIENT', 'LIST')).not.toMatch(/cmd=eval/);
    });
  });

describe('the URL of a Redis', () => {
  it.each(['abc', '-1', '1.5', '0/1', '1e3', '99999999999'])('with database %s is refused', async (path) => {
    const failure = await failureOf(openRedis(`redis://app:hunter2@127.0.0.1:1/${path}`));
    expect(failure).toBeInstanceOf(InvalidOptionError);
    expect(failure.message).toContain(JSON.stringify(path));
    expect(shown(failure)).not.toContain('hunter2');
  });

  it.each(['redis://:1/hunter2@host', 'redis://h/x:hunter2', 'redis://app:hunter2%zz@host'])(
    'does not show what may be a password',
    async (url) => {
      const failure = await failureOf(openRedis(url));
      expect(failure).toBeInstanceOf(InvalidOptionError);
      expect(shown(failure)).not.toContain('hunter2');
    },
  );
});
