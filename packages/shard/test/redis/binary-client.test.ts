import { InvalidOptionError } from 'idsmith';
import { redisError, ScriptRunner } from 'idsmith/internal';
import { Cluster, Redis } from 'ioredis';
import { createClient, createCluster } from 'redis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, type RedisServer, startRedis } from '#services';
import { binaryClient, clusterClient } from '../../src/redis/binary-client.ts';

// A prefix would be put before the keys of scripts, and not before the keys that they find.
it('A client with a prefix is refused for keys that are moved', () => {
  const client = new Redis({ keyPrefix: 'app:', lazyConnect: true });
  expect(() => binaryClient(client)).toThrow(InvalidOptionError);
  expect(() => binaryClient(client)).toThrow('keyPrefix must be empty for resharding, not "app:"');
});

it.each([
  ['keyPrefix', { keyPrefix: 'app:' }, /^keyPrefix must be empty .*"app:"/],
  ['a keyPrefix for its nodes', { redisOptions: { keyPrefix: 'app:' } }, /^keyPrefix must be empty .*"app:"/],
  ['scaleReads', { scaleReads: 'slave' }, /^scaleReads must be master/],
] as const)(
  'A cluster client of ioredis with %s is refused for keys that are moved',
  (_, options, message) => {
    const client = new Cluster([{ host: '127.0.0.1', port: 1 }], { ...options, lazyConnect: true });
    expect(() => clusterClient(client)).toThrow(InvalidOptionError);
    expect(() => clusterClient(client)).toThrow(message);
  },
);

it('A cluster client of redis that reads from replicas is refused for keys that are moved', () => {
  const client = createCluster({ rootNodes: [{ url: 'redis://127.0.0.1:1' }], useReplicas: true });
  expect(() => clusterClient(client)).toThrow(/^useReplicas must be false/);
});

it.each([[undefined], [null], [{}], [5]])('%j is no client of a cluster', (client) => {
  expect(() => clusterClient(client)).toThrow(InvalidOptionError);
  expect(() => clusterClient(client)).toThrow(
    /^cluster must be a cluster client of the package ioredis or redis/,
  );
});

it.each([[undefined], [null], [{}], [{ evalSha: () => {} }], [5]])('%j is no client', (client) => {
  expect(() => binaryClient(client)).toThrow(InvalidOptionError);
});

/** Bytes that are not UTF-8. */
const BYTES = Uint8Array.of(0, 255, 128, 10);

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

for (const [name, connect] of Object.entries(drivers)) {
  await describeWith(['redis'], `A client of ${name} in bytes`, () => {
    let server: RedisServer;
    let driver: Awaited<ReturnType<typeof connect>>;

    beforeAll(async () => {
      server = await startRedis();
      driver = await connect(server.url);
    });
    afterAll(async () => {
      driver?.end();
      await server?.stop();
    });

    const runnerOf = () =>
      new ScriptRunner(binaryClient(driver.client), {
        timeout: 1000,
        errorOf: (operation: string, error: unknown) => redisError('test', operation, error),
      });

    it('passes keys and arguments of scripts in bytes, and gets bytes', async () => {
      const reply = await runnerOf().run('echoing', ECHO, [BYTES], [BYTES.subarray(1)]);
      expect(reply).toEqual([Buffer.from(BYTES), Buffer.from(BYTES.subarray(1)), 1, 1]);
    });

    it('sends commands in bytes', async () => {
      const runner = runnerOf();
      await runner.use('writing', (client) => client.send('SET', 'bytes', BYTES));
      expect(await runner.use('reading', (client) => client.send('GET', 'bytes'))).toEqual(
        Buffer.from(BYTES),
      );
    });

    it('sends the text of a script only once', async () => {
      await server.command('SCRIPT', 'FLUSH');
      await server.command('CONFIG', 'RESETSTAT');
      const runner = runnerOf();
      for (let i = 0; i < 3; i++) await runner.run('echoing', ECHO, ['k'], ['a']);
      const stats = await server.command('INFO', 'commandstats');
      expect(stats).toMatch(/cmdstat_eval:calls=1,/);
      expect(stats).toMatch(/cmdstat_evalsha:calls=3,/);
    });
  });
}
