import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ShardMap } from '@idsmith/shard';
import { StoreError } from 'idsmith';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { describeWith } from '#services';
import { repeated } from '../../../idsmith/test/support/unique.ts';
import { isWaiting } from '../../src/redis/made-client.ts';
import { type Shards, startShards } from '../start-shards.ts';

const root = fileURLToPath(new URL('../../../..', import.meta.url));

describe.each(['ioredis', 'redis'] as const)('Clients that a map makes with %s', async (driver) => {
  await describeWith(['redis'], 'and real servers', () => {
    let shards: Shards;
    let map: ShardMap;

    beforeAll(async () => {
      shards = await startShards([1, 1], { timeout: 3000 });
    });
    afterAll(() => shards?.stop());
    afterEach(() => map.close());

    const start = () => {
      map = new ShardMap({ ...shards.config, driver });
      return map;
    };

    it('are there before anything was minted, and mint', async () => {
      const key = start().fixedKey(77, 7, 2);
      await map.getClient(key).set(key, 'value');
      expect(await map.getClient(key).get(key)).toBe('value');
      const keys = await map.genKeys('user', 20_000);
      expect(repeated(keys)).toEqual([]);
    });

    it('fail with a StoreError that names a dead node and the reason', async () => {
      const key = start().fixedKey(77, 7, 2);
      const server = shards.servers[map.ownerOf(key).index]!;
      await map.getClient(key).set(key, 'value');
      await server.kill();
      const refused = await map
        .getClient(key)
        .get(key)
        .catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(StoreError);
      expect(refused.message).toContain(`node ${map.addressOf(key)}: `);
      await server.restart();
    });

    it('fail within the timeout on a node that hangs, and work again when it goes on', async () => {
      const key = start().fixedKey(77, 7, 2);
      const server = shards.servers[map.ownerOf(key).index]!;
      await map.getClient(key).set(key, 'value');
      server.pause();
      const refused = await map
        .getClient(key)
        .get(key)
        .catch((error: unknown) => error);
      // The client gives the second connection up, too, and pauses. Meanwhile commands fail at once, and say why.
      const later: Error[] = [];
      for (let i = 0; i < 3; i++)
        later.push(
          await map
            .getClient(key)
            .get(key)
            .catch((error: unknown) => error),
        );
      server.resume();
      expect(refused).toBeInstanceOf(StoreError);
      expect(refused.message).toMatch(/get failed: no answer within 3000 ms$/i);
      for (const error of later) {
        expect(error).toBeInstanceOf(StoreError);
        expect(error.message).toMatch(/get failed: no answer within 3000 ms/i);
      }
      await expect
        .poll(() =>
          map
            .getClient(key)
            .get(key)
            .catch(() => ''),
        )
        .toBe('value');
    });

    it('keep the errors that the server answers with', async () => {
      const key = start().fixedKey(77, 7, 2);
      const client = map.getClient(key);
      await client.set(key, 'value');
      const refused = await (client.lpop ?? client.lPop).call(client, key).catch((error: unknown) => error);
      expect(refused).not.toBeInstanceOf(StoreError);
      expect(refused.message).toMatch(/^WRONGTYPE/);
    });

    it('may fail without a handler, and that is not hidden', async () => {
      const seen: unknown[] = [];
      const listener = (error: unknown) => seen.push(error);
      const before = process.listeners('unhandledRejection');
      process.removeAllListeners('unhandledRejection').on('unhandledRejection', listener);
      const key = start().fixedKey(77, 7, 2);
      await map.getClient(key).set(key, 'value');
      const client = map.getClient(key);
      void (client.lpop ?? client.lPop).call(client, key);
      await expect.poll(() => seen.length).toBe(1);
      process.removeAllListeners('unhandledRejection');
      for (const other of before) process.on('unhandledRejection', other as () => void);
    });
  });
});

describe('The driver', () => {
  const folder = mkdtempSync(join(tmpdir(), 'idsmith-drivers-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  /** A program in a folder of its own, with these drivers installed. */
  function run(drivers: readonly string[], code: string): string {
    const home = mkdtempSync(join(folder, 'app-'));
    const modules = join(home, 'node_modules');
    for (const [folder, name] of [
      ['idsmith', 'idsmith'],
      ['shard', '@idsmith/shard'],
    ] as const)
      for (const part of ['dist', 'package.json'])
        cpSync(join(root, 'packages', folder, part), join(modules, name, part), { recursive: true });
    for (const driver of drivers) symlinkSync(join(root, 'node_modules', driver), join(modules, driver));
    writeFileSync(
      join(home, 'app.mjs'),
      `import { ShardMap } from '@idsmith/shard';
      const map = new ShardMap({ shards: { 0: ['1', '127.0.0.1'] }, options: { timeout: 60_000 } });
      ${code}
      await map.close();`,
    );
    const { stdout, stderr } = spawnSync(process.execPath, ['app.mjs'], { cwd: home, encoding: 'utf8' });
    return stdout + stderr;
  }

  const MINT = 'console.log(await map.genKey().catch((error) => error.message));';
  const CLIENT = `try { console.log(Object.keys(map.getClient('020000')).length >= 0, typeof map.getClient('020000').evalSha); }
    catch (error) { console.log(error.message); }`;

  it.each([
    [['ioredis', 'redis'], 'function'],
    [['ioredis'], 'undefined'],
    [['redis'], 'function'],
  ])('of %j is found, redis first', (drivers, evalSha) => {
    expect(run(drivers, MINT)).toMatch(/^node 127\.0\.0\.1:1: minting keys failed: .*ECONNREFUSED/);
    expect(run(drivers, CLIENT)).toBe(`true ${evalSha}\n`);
  });

  it('is named when there is none', () => {
    const message = /the package redis or ioredis is needed and could not be loaded: npm install redis/;
    expect(run([], MINT)).toMatch(message);
    expect(run([], CLIENT)).toMatch(message);
  });
});

describe('A command that waits', () => {
  it.each([
    ['blpop', ['key', 0], true],
    ['BLPOP', ['key', 0], true],
    ['blpopBuffer', ['key', 0], true],
    ['brpoplpush', ['a', 'b', 0], true],
    ['blmove', [], true],
    ['bzmpop', [], true],
    ['xread', ['COUNT', 1, 'BLOCK', 0, 'STREAMS', 'a', '$'], true],
    ['xReadGroup', ['g', 'c', {}, { BLOCK: 5 }], true],
    ['xread', ['STREAMS', 'a', '0'], false],
    ['subscribe', ['channel'], true],
    ['waitaof', [1, 0, 0], true],
    ['get', ['blpop'], false],
    ['lpop', ['key'], false],
  ])('%s %j has a time limit: %s', (name, args, waits) => {
    expect(isWaiting(name, args)).toBe(waits);
  });
});
