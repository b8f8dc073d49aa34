import { StoreError } from 'idsmith';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeWith, type RedisServer, startRedis } from '#services';
import { textClient } from '../../src/redis/client.ts';
import { redisError, ScriptRunner } from '../../src/redis/script-runner.ts';

const ECHO = `return { KEYS[1], ARGV[1], #KEYS, #ARGV }`;

/** A client of each driver, and the end of the client. */
const drivers: Record<string, (url: string) => Promise<{ client: unknown; end: () => void }>> = {
  async ioredis(url) {
    const client = new Redis(url);
    return { client, end: () => client.disconnect() };
  },
  async redis(url) {
    const client = createClient({ url });
    await client.connect();
    return { client, end: () => client.destroy() };
  },
};

const options = {
  timeout: 1000,
  errorOf: (operation: string, error: unknown) => redisError('test', operation, error),
};

for (const [name, connect] of Object.entries(drivers)) {
  await describeWith(['redis'], `A script runner with a client of ${name}`, () => {
    let server: RedisServer;
    let driver: Awaited<ReturnType<typeof connect>>;

    beforeAll(async () => {
      server = await startRedis();
      driver = await connect(server.url);
    });
    beforeEach(() => server.command('SCRIPT', 'FLUSH'));
    afterAll(async () => {
      driver?.end();
      await server?.stop();
    });

    it('passes keys and arguments in text', async () => {
      const runner = new ScriptRunner(textClient(driver.client), options);
      expect(await runner.run('echoing', ECHO, ['a key', 'b'], [7, 'ü', ''])).toEqual(['a key', '7', 2, 3]);
    });

    it('sends the text of a script only once', async () => {
      const runner = new ScriptRunner(textClient(driver.client), options);
      await server.command('CONFIG', 'RESETSTAT');
      for (let i = 0; i < 3; i++) await runner.run('echoing', ECHO, ['k'], ['a']);
      const stats = await server.command('INFO', 'commandstats');
      expect(stats).toMatch(/cmdstat_eval:calls=1,/);
      expect(stats).toMatch(/cmdstat_evalsha:calls=3,/);
    });

    it('throws the error that errorOf makes of an error reply', async () => {
      const runner = new ScriptRunner(textClient(driver.client), options);
      const script = `return redis.error_reply('ERR as asked')`;
      const failed: unknown = await runner.run('failing', script, ['k']).catch((error: unknown) => error);
      expect(failed).toBeInstanceOf(StoreError);
      expect((failed as StoreError).message).toMatch(/^test: failing failed: ERR as asked/);
    });

    it('gives up after the timeout', async () => {
      const runner = new ScriptRunner(textClient(driver.client), { ...options, timeout: 50 });
      server.pause();
      await expect(runner.run('waiting', ECHO, ['k'], ['a'])).rejects.toThrow(
        'test: waiting failed: no answer within 50 ms',
      );
      server.resume();
    });
  });
}

describe('redisError', () => {
  it('shows no password, not even in its cause', () => {
    const login = Object.assign(new Error('WRONGPASS secret is wrong'), {
      code: 'WRONGPASS',
      command: { name: 'auth', args: ['secret'] },
    });
    const error = redisError('node a:1', 'minting keys', login, 'secret');
    expect(error.message).toBe('node a:1: minting keys failed: WRONGPASS *** is wrong');
    expect(error.cause).toMatchObject({ message: 'WRONGPASS *** is wrong', code: 'WRONGPASS' });
    expect(error.cause).not.toHaveProperty('command');
  });

  it('shows no login of a URL', () => {
    const error = redisError('redis store', 'listing leases', new Error('cannot reach redis://u:p@h:1'));
    expect(error.message).toBe('redis store: listing leases failed: cannot reach redis://***@h:1');
  });

  it('keeps an error of this library', () => {
    const error = new StoreError('closed');
    expect(redisError('redis store', 'listing leases', error)).toBe(error);
  });
});
