import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ShardConfig, type ShardEntry, ShardMap } from '@idsmith/shard';
import { init, type Shardjs } from '@idsmith/shard/shardjs';
import { InvalidIdError, InvalidOptionError, StoreError } from 'idsmith';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { describeWith } from '#services';
import { repeated } from '../../../idsmith/test/support/unique.ts';
import { vectors } from '../../../idsmith/test/support/vectors.ts';
import { ringOf, type Shards, startShards } from '../start-shards.ts';
import { DOCUMENT_CONFIG, writeDocumentProgram } from './document-program.ts';

const { keys, placement, fixedKey } = vectors<{
  fixedKey: { args: [number, number, number, string?]; key: string }[];
  keys: { key: string; type: string; time: number; decimal: string }[];
  placement: {
    name: string;
    shards: Record<string, ShardEntry>;
    where: Record<string, string>;
    virtual: Record<string, number>;
  }[];
}>('shard-keys');

/** The config of the document. */
const config = (() => {
  const exports: { config?: ShardConfig } = {};
  new Function('exports', DOCUMENT_CONFIG)(exports);
  return exports.config as ShardConfig;
})();

describe('@idsmith/shard/shardjs', () => {
  const shard = init(config);

  it('takes a config, or a module that exports it', () => {
    expect(init({ config }).specialKeys).toEqual(shard.specialKeys);
    expect(() => init({ config: { ...config, shard: {} } as ShardConfig })).toThrow(
      /unknown name "shard"; did you mean "shards"\?/,
    );
    expect(() => init(undefined as never)).toThrow(InvalidOptionError);
  });

  it('reads keys as Shardjs does, with times in milliseconds', () => {
    const known = keys.filter(({ type, key }) => Object.hasOwn(shard.keyTypes, type) && !key.includes('-'));
    expect(known.length).toBeGreaterThan(5);
    for (const { key, type, time, decimal } of known)
      expect([shard.getType(key), shard.getTime(key), shard.toDecimalString(key)]).toEqual([
        type,
        time,
        decimal,
      ]);
    expect(shard.getType('1jyVFw3406')).toBeNull();
  });

  it.each(placement)('puts keys on the shards of "$name"', ({ shards, where, virtual }) => {
    const map = init({ shards });
    for (const [key, name] of Object.entries(where))
      expect([key, map.whereIs(key)]).toEqual([key, String(name)]);
    for (const [key, at] of Object.entries(virtual)) expect([key, map.whereIs(key, true)]).toEqual([key, at]);
  });

  it('takes the third argument of the code of Shardjs, and refuses what it does not know', () => {
    const whereIs = (...rest: unknown[]) =>
      (shard.whereIs as (...args: unknown[]) => unknown)('1jyVFw3401', ...rest);
    expect([whereIs(false), whereIs(true), whereIs(true, true), whereIs(undefined, true)]).toEqual([
      '3',
      0,
      0,
      0,
    ]);
    expect(() => whereIs(() => {})).toThrow(/second argument of whereIs .*a function/);
    expect(() => whereIs(1)).toThrow(InvalidOptionError);
    expect(() => shard.whereIs('abcd')).toThrow(InvalidIdError);
  });

  it('adds types and special keys, and answers 1, 0 or -1', () => {
    const map = init(config);
    expect([map.addKeyType('user', 99), map.addKeyType('other', 2), map.addKeyType('extra', 77)]).toEqual([
      -1, 0, 1,
    ]);
    expect([
      map.addSpecialKey('users', [9, 'index']),
      map.addSpecialKey('x', [9, 'nosuch']),
      map.addSpecialKey('new', [9, 'extra']),
    ]).toEqual([-1, 0, 1]);
    expect([map.keyTypes.extra, map.specialKeys.new]).toEqual([77, '09001F-new']);
  });

  it('shortens and lengthens names, those of a filter only if there is one', () => {
    const subKeys = { name: 'n', city: 'c', data: 'd', email: 'e' };
    const map = init({ ...config, options: { ...config.options, subKeys } });
    const ada = { name: 'Ada', city: 'London', data: { email: 'a@b.c', city: 'Rome' } };
    const short = map.minify(ada, ['name', 'data']);
    expect(short).toEqual({ n: 'Ada', d: { e: 'a@b.c', c: 'Rome' } });
    expect(map.maxify(short)).toEqual({ name: 'Ada', data: ada.data });
    expect(map.minify(ada, { data: { email: 1 }, name: 0 })).toEqual({ d: { e: 'a@b.c' } });
    expect(map.maxify(map.minify(ada), ['city'])).toEqual({ city: 'London' });
    expect(map.minify([ada], ['city'])).toEqual([{ c: 'London' }]);
    expect(map.minify({ data: [ada, null, 'x'] }, { data: ['city'] })).toEqual({
      d: [{ c: 'London' }, null, 'x'],
    });
  });

  it('refuses a callback that is none before it mints a key', () => {
    const map = init(config);
    const minted = vi.spyOn(map.map, 'genKeys');
    expect(() => map.genKey(2, 1, 'callback' as never)).toThrow(
      /^callback must be a function, not "callback"/,
    );
    expect(minted).not.toHaveBeenCalled();
  });

  it('gives wrong arguments to the callback', async () => {
    const call = (...args: unknown[]) =>
      new Promise<unknown[]>((resolve) => {
        (shard.genKey as (...all: unknown[]) => void)(...args, (...answer: unknown[]) => resolve(answer));
      });
    expect(await call('nosuch')).toEqual([null, expect.objectContaining({ code: 'INVALID_OPTION' })]);
    expect(await call(2, -1)).toEqual([null, expect.objectContaining({ code: 'INVALID_OPTION' })]);
    const genKey = shard.genKey as (...all: unknown[]) => Promise<unknown>;
    await expect(genKey.call(shard, 2, 1, undefined, 'more')).rejects.toThrow(
      /called with nothing more, not "more"/,
    );
  });

  it('makes keys of given parts, and changes their types', () => {
    for (const { args, key } of fixedKey.filter(({ args }) => args[2] < 3844))
      expect(shard.fixedKey(...args)).toBe(key);
    expect(shard.getType(shard.changeKeyType('1jyVFw3401', 'user'))).toBe('user');
  });
});

await describeWith(['redis'], '@idsmith/shard/shardjs', () => {
  let shards: Shards;
  let shard: Shardjs;
  const auth = { userid: 'app', password: 'correct-horse' };
  const folder = mkdtempSync(join(tmpdir(), 'idsmith-shardjs-'));
  const onServers = () => ({
    ...config,
    auth,
    ...ringOf(shards.servers, [1, 2, 1, 4]),
  });

  beforeAll(async () => {
    shards = await startShards([1, 1, 1, 1]);
    for (const server of shards.servers) {
      await server.command('ACL', 'SETUSER', 'app', 'on', '>correct-horse', '~*', '&*', '+@all');
      await server.command('CONFIG', 'SET', 'requirepass', 'another-one');
    }
    shard = init(onServers());
    mkdirSync(join(folder, 'node_modules/@idsmith'), { recursive: true });
    symlinkSync(
      fileURLToPath(new URL('../..', import.meta.url)),
      join(folder, 'node_modules/@idsmith/shard'),
    );
  });

  afterAll(async () => {
    await shard?.close();
    await shards?.stop();
    rmSync(folder, { recursive: true });
  });

  it('runs the code of the document as it stands', () => {
    const ports = shards.servers.map(({ port }) => port);
    const { status, stderr, stdout } = spawnSync(
      process.execPath,
      [writeDocumentProgram(folder, ports, auth)],
      { encoding: 'utf8' },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const { key, ...results } = JSON.parse(stdout);
    const map = new ShardMap(onServers());
    // The two commands go to different nodes, which answer in any order.
    results.errors.sort();
    expect(results).toEqual({
      emails: '020000-emails',
      getClient: 'function',
      // The document leaves the field out in both commands, and Redis says so.
      errors: [
        expect.stringContaining("wrong number of arguments for 'hget'"),
        expect.stringContaining("wrong number of arguments for 'hset'"),
      ],
      name: 'Ada',
      whereIs: map.whereIs(key),
      virtual: map.virtualShardOf(key),
      toDecimalString: map.toDecimalString(key),
      fixedKey: '020000-emails',
      changeKeyType: `${key.slice(0, -2)}0z`,
      changeKeyTypeByName: `${key.slice(0, -2)}0z`,
      type: '$DEF',
      time: map.getTime(key).getTime(),
    });
  });

  it('mints one key or many, with a callback or a promise', async () => {
    expect(await shard.genKey(2)).toMatch(/02$/);
    expect(await shard.genKey()).toMatch(/zz$/);
    expect(await shard.genKey(null)).toMatch(/zz$/);
    const many = await new Promise<string[]>((resolve) => {
      shard.genKey('user', 5000, resolve);
    });
    expect(many).toHaveLength(5000);
    expect(repeated(many)).toEqual([]);
    expect(await shard.genKey('user', 1)).toMatch(/02$/);
    expect(await shard.genKey('user', 2)).toHaveLength(2);
  });

  it('has the client of the node that owns a key', async () => {
    const key = await shard.genKey('user');
    await shard.getClient(key).set(key, 'Ada');
    expect(await shard.map.getClient(key).get(key)).toBe('Ada');
    expect(shard.getClient(key)).toBe(shard.map.getClient(key));
  });

  it('gives null and the error when no node can mint', async () => {
    const dead = init({ shards: { 0: ['1', '127.0.0.1', 1] } });
    const answer = await new Promise<unknown[]>((resolve) => {
      dead.genKey(2, (...given: unknown[]) => resolve(given));
    });
    expect(answer).toEqual([null, expect.any(StoreError)]);
    await dead.close();
  });
});
