import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidOptionError, memoryStore, Sequences } from 'idsmith';
import { describe, expect, it } from 'vitest';
import { dynamodbStore } from '../../src/stores/dynamodb/store.ts';
import { etcdStore } from '../../src/stores/etcd/store.ts';
import { httpStore } from '../../src/stores/http/store.ts';
import { mysqlStore } from '../../src/stores/mysql/store.ts';
import { openStore } from '../../src/stores/open.ts';
import { postgresStore } from '../../src/stores/postgres/store.ts';
import { redisStore } from '../../src/stores/redis/store.ts';
import { sqliteStore } from '../../src/stores/sqlite/store.ts';

const sql = { query: async () => [[], []] as never };
const redis = { eval: async () => 0, evalsha: async () => 0 };
const dynamodb = { send: async () => ({}) };
const endpoints = ['http://127.0.0.1:1'];
const sqlite = { exec() {}, prepare: () => ({ all: () => [], run: () => ({ changes: 0 }) }) };

/** A slip in each options object, and the name that was meant. */
const SLIPS: [factory: string, make: () => unknown, meant: string | undefined][] = [
  ['postgresStore', () => postgresStore(sql, { timeot: 5 } as never), 'timeout'],
  ['mysqlStore', () => mysqlStore(sql, { Timeout: 5 } as never), 'timeout'],
  ['redisStore', () => redisStore(redis, { durabel: true } as never), 'durable'],
  ['redisStore', () => redisStore(redis, { maxTTL: 5 } as never), 'maxTtl'],
  ['dynamodbStore', () => dynamodbStore(dynamodb, { table: 'ids', hashkey: 'id' } as never), 'hashKey'],
  ['etcdStore', () => etcdStore({ endpoints, prefx: 'x/' } as never), 'prefix'],
  ['httpStore', () => httpStore('http://127.0.0.1:1', { tokn: 'x' } as never), 'token'],
  ['sqliteStore', () => sqliteStore(sqlite, { timeout: 5 } as never), undefined],
];

it.each([{ durable: false }, {}, null, 'memory:'])('memoryStore has no options, and refuses %j', (given) => {
  expect(() => memoryStore(given as never)).toThrow(InvalidOptionError);
});

describe('an option that is misspelt', () => {
  it.each(SLIPS)('of %s is refused, with the name that was meant', (_factory, make, meant) => {
    expect(make).toThrow(InvalidOptionError);
    expect(make).toThrow(
      meant === undefined ? /^options: unknown name "timeout"/ : `did you mean "${meant}"?`,
    );
  });

  it.each([null, 5, 'text'])('is not looked for in %j, which is no object', (options) => {
    for (const make of [
      () => postgresStore(sql, options as never),
      () => mysqlStore(sql, options as never),
      () => redisStore(redis, options as never),
      () => dynamodbStore(dynamodb, options as never),
      () => etcdStore(options as never),
      () => httpStore('http://127.0.0.1:1', options as never),
    ])
      expect(make).toThrow(InvalidOptionError);
  });

  it('of a sequence is refused, and nothing is done', async () => {
    const store = memoryStore();
    const sequences = new Sequences(store);
    const slips: [call: () => Promise<unknown>, meant: string][] = [
      [() => sequences.define('x', { blocksize: 5 } as never), 'blockSize'],
      [() => store.defineSequence({ name: 'x', strat: 5 } as never), 'start'],
    ];
    for (const [call, meant] of slips) await expect(call()).rejects.toThrow(`did you mean "${meant}"?`);
    expect(await sequences.list()).toEqual([]);
    const info = await sequences.define('x');
    await expect(sequences.alter('x', { nxt: 100 } as never)).rejects.toThrow('did you mean "next"?');
    await expect(store.alterSequence('x', { start: 100 } as never)).rejects.toThrow(InvalidOptionError);
    await expect(sequences.get('x', { prefech: 0 } as never)).rejects.toThrow('did you mean "prefetch"?');
    expect(await sequences.describe('x')).toEqual(info);
    const remote = httpStore('http://127.0.0.1:1');
    await expect(remote.alterSequence('x', { nxt: 100 } as never)).rejects.toThrow('did you mean "next"?');
  });
});

describe('a setting of a URL that is misspelt', () => {
  it.each([
    ['postgres://user:hunter2@host/db?query_timeot=5', 'query_timeout'],
    ['postgresql://user:hunter2@host/db?sslmod=require', 'sslmode'],
    ['mysql://user:hunter2@host/db?connectionlimit=5', 'connectionLimit'],
    ['mariadb://user:hunter2@host/db?conectTimeout=5', 'connectTimeout'],
    ['redis://user:hunter2@host?maxTTL=5', 'maxTtl'],
    ['dynamodb://region/table?hashkey=id', 'hashKey'],
    ['etcd://host?timout=5', 'timeout'],
  ])('is refused in %s, with the name that was meant', async (url, meant) => {
    const failure = await openStore(url).catch((error) => error);
    expect(failure).toBeInstanceOf(InvalidOptionError);
    expect(failure.message).toContain(`did you mean "${meant}"?`);
    expect(failure.message).not.toContain('hunter2');
  });

  it.each([
    'postgres://user@host/db?sslmode=disable&application_name=ids&query_timeout=5',
    'postgres://user@host/db?channel_binding=prefer&something_of_a_provider=1',
    'mysql://user@host/db?connectionLimit=5&timezone=Z',
  ])('is nowhere in %s', async (url) => {
    await (await openStore(url)).close();
  });

  it('is refused of a file, which would have it in its name, and of memory', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'idsmith-options-'));
    await expect(openStore(`sqlite:${folder}/ids.db?mode=ro`)).rejects.toThrow(InvalidOptionError);
    expect(readdirSync(folder)).toEqual([]);
    rmSync(folder, { recursive: true });
    await expect(openStore('memory:shared')).rejects.toThrow(InvalidOptionError);
    await (await openStore('memory://')).close();
  });
});
