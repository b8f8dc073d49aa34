import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { ClosedError, InvalidOptionError, type LeaseRecord, StoreError } from 'idsmith';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith, type ServerProcess, startMariadb, startPostgres } from '#services';
import { releasePorts, withFreePorts } from '#services/ports.ts';
import { openStore } from '../../src/stores/open.ts';
import { addressOf } from '../../src/stores/url.ts';
import { loadPackage } from '../../src/support/load-package.ts';

const RECORD: LeaseRecord = { id: 0, owner: 'a', epoch: 1, fence: 1000, expiresAt: 2000, label: 'host 1' };

const failureOf = (url: string) =>
  openStore(url).then(
    () => expect.fail(`${url} was opened`),
    (error: Error) => error,
  );

/** Everything that a log could show of an error. */
const shown = (error: unknown) => inspect(error, { depth: null, showHidden: true });

describe('openStore', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'idsmith-open-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(['memory:', 'sqlite::memory:', 'SQLITE::memory:'])('opens %s', async (url) => {
    const store = await openStore(url);
    expect(await store.swapLease('x', undefined, RECORD)).toBe(true);
    expect(await store.listLeases('x')).toEqual([RECORD]);
    await store.close();
  });

  it.each([
    ['sqlite:', 'plain.db'],
    ['sqlite://', 'with slashes.db'],
  ])('opens %s and a path, and keeps what was put there', async (prefix, name) => {
    const file = join(folder, name);
    for (const put of [true, false]) {
      const store = await openStore(`${prefix}${file}`);
      expect(await store.swapLease('x', undefined, RECORD)).toBe(put);
      await store.close();
    }
    expect(existsSync(file)).toBe(true);
  });

  it('closes what it opened, once', async () => {
    const store = await openStore('sqlite::memory:');
    await store.listLeases('x');
    await store.close();
    await store.close();
    await expect(store.listLeases('x')).rejects.toThrow(ClosedError);
  });

  it('says which file cannot be opened', async () => {
    const failure = await failureOf(`sqlite:${folder}/nowhere/ids.db`);
    expect(failure).toBeInstanceOf(StoreError);
    expect(failure).toMatchObject({ reason: 'NOT_FOUND' });
    expect(failure.message).toBe(
      `sqlite store: opening the file ${folder}/nowhere/ids.db failed: the folder ${folder}/nowhere does not exist`,
    );
    const isFolder = await failureOf(`sqlite:${folder}`);
    expect(isFolder.message).toMatch(/ failed: the path is that of a folder$/);
    const text = join(folder, 'text.db');
    writeFileSync(text, 'This is text and no database, and it is longer than a header.'.repeat(9));
    const store = await openStore(`sqlite:${text}`);
    await expect(store.listLeases('x')).rejects.toThrow(
      `listing leases at ${text} failed: file is not a database`,
    );
    await store.close().catch(() => undefined);
  });

  it.each([
    ['mongodb://user:hunter2@host/db', /mongodb: is unknown/],
    [
      'sqlite:file::memory:',
      /a path without file:, for example sqlite:\.\/ids\.db, not "sqlite:file::memory:"/,
    ],
    ['ids.db', /for the file ids\.db, write sqlite:ids\.db$/],
    ['hunter2@host.db', /it has no scheme$/],
    ['sqllite:./ids.db', /sqllite: is unknown; did you mean sqlite:\?/],
    ['postgre://user:hunter2@host/db', /postgre: is unknown; did you mean postgres:\?/],
    ['', /it has no scheme/],
    ['//user:hunter2@host', /it has no scheme/],
    ['sqlite:', /sqlite::memory:/],
    ['postgres:user:hunter2@host', /this postgres: URL cannot be parsed/],
    ['postgres://user:hunter2@host:99999/db', /this postgres: URL cannot be parsed/],
    ['postgresql://user:hunter2%zz@host/db', /this postgresql: URL cannot be parsed/],
    ['mysql://user:hunter2@:3306/db', /this mysql: URL cannot be parsed/],
    ['mariadb://user:hunter2@host:x/db', /this mariadb: URL cannot be parsed/],
    ['redis:user:hunter2@host', /redis:\/\//],
    ['REDISS://user:hunter2@host:x', /redis:\/\//],
    ['dynamodb://user:hunter2@region', /dynamodb:\/\/region\/table/],
    ['etcd://user:hunter2@host', /etcd:\/\/host/],
  ])('refuses %j without showing its password', async (url, message) => {
    const failure = await failureOf(url);
    expect(failure).toBeInstanceOf(InvalidOptionError);
    expect(failure.message).toMatch(message);
    expect(shown(failure)).not.toContain('hunter2');
  });

  it('lists the schemes that it knows', async () => {
    const { message } = await failureOf('mongodb://host');
    expect(message).toContain(
      'memory:, sqlite:, libsql:, postgres:, postgresql:, mysql:, mariadb:, oracle:, redis:, rediss:, redis+cluster:, rediss+cluster:, redis+sentinel:, rediss+sentinel:, dynamodb:, etcd:',
    );
  });

  it('refuses what is not text', async () => {
    await expect(openStore(42 as unknown as string)).rejects.toThrow('url must be text, not 42');
  });

  it.each([
    'postgres://user:hunter2@HOST/db',
    'mysql://user:hunter2@HOST/db',
    'redis://user:hunter2@HOST/0',
    'dynamodb://eu-west-1/ids?endpoint=http://HOST',
    'etcd://HOST',
    'http://hunter2@HOST',
  ])('names host, port and reason when no server is there, and no password: %s', async (form) => {
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'hunter2' });
    await withFreePorts(1, async ([port]) => {
      for (const host of ['127.0.0.1', 'localhost']) {
        const opening = openStore(form.replace('HOST', `${host}:${port}`));
        const failure = await opening.then((store) => store.listLeases('x')).catch((error) => error);
        expect(failure).toBeInstanceOf(StoreError);
        expect(failure.reason).toBe('UNREACHABLE');
        expect(failure.message).toMatch(new RegExp(`at (http://)?${host}:${port} failed: .*ECONNREFUSED`));
        expect(shown(failure)).not.toContain('hunter2');
        await opening.then((store) => store.close()).catch(() => undefined);
      }
      releasePorts([port]);
    });
  });

  it.each(['postgres://user:hunter2@no.invalid/db', 'mysql://no.invalid/db', 'redis://no.invalid'])(
    'names a host that nobody knows: %s',
    async (url) => {
      const store = await openStore(url);
      const failure = await store.listLeases('x').catch((error) => error);
      expect(failure).toBeInstanceOf(StoreError);
      expect(failure.reason).toBe('UNREACHABLE');
      expect(failure.message).toMatch(/at no\.invalid:\d+ failed: .*(ENOTFOUND|EAI_AGAIN)/);
      expect(shown(failure)).not.toContain('hunter2');
      await store.close();
    },
  );
});

describe('the address in a message', () => {
  it.each([
    ['postgres://u:p@db.example.com/x', 'db.example.com:5432'],
    ['postgres://db:6543/x', 'db:6543'],
    ['postgres:///x', 'localhost:5432'],
    ['postgres:///x?host=/run/postgresql', '/run/postgresql'],
    ['postgres://[::1]/x', '[::1]:5432'],
    ['postgres://a:1/x?host=b&port=2', 'b:2'],
  ])('of %s is %s', (url, address) => {
    expect(addressOf(url, 5432)).toBe(address);
  });
});

describe('a driver', () => {
  const missing = (name: string) =>
    Object.assign(new Error(`Cannot find package '${name}' imported from idsmith`), {
      code: 'ERR_MODULE_NOT_FOUND',
    });

  it('that is not installed is named, with how to install it', async () => {
    const failure = await loadPackage('pg', () => Promise.reject(missing('pg'))).catch((error) => error);
    expect(failure).toBeInstanceOf(StoreError);
    expect(failure.reason).toBe('PACKAGE_MISSING');
    expect(failure.message).toBe('the package pg is needed and not installed: npm install pg');
    expect(failure.cause).toBeInstanceOf(Error);
  });

  it('that lacks something itself is not said to be missing', async () => {
    const failure = loadPackage('pg', () => Promise.reject(missing('pg-pool')));
    await expect(failure).rejects.toThrow(/^the package pg could not be loaded: .*'pg-pool'/);
    await expect(failure).rejects.toMatchObject({ reason: undefined });
  });
});

await describeWith(['postgres', 'mariadb'], 'openStore with servers', () => {
  let postgres: ServerProcess;
  let mariadb: ServerProcess;

  beforeAll(async () => {
    [postgres, mariadb] = await Promise.all([startPostgres(), startMariadb()]);
  });
  afterAll(() => Promise.all([postgres?.stop(), mariadb?.stop()]));

  const urls = () => [
    postgres.url,
    postgres.url.replace('postgres:', 'postgresql:'),
    mariadb.url,
    mariadb.url.replace('mysql:', 'mariadb:'),
  ];

  it('opens a store of each scheme, which ends its connections when it is closed', async () => {
    for (const [i, url] of urls().entries()) {
      const store = await openStore(url);
      expect(await store.swapLease('x', undefined, RECORD)).toBe(i % 2 === 0);
      await store.close();
      await store.close();
      await expect(store.listLeases('x')).rejects.toThrow(ClosedError);
    }
  });

  it('works again after the servers were restarted', async () => {
    const stores = await Promise.all([openStore(postgres.url), openStore(mariadb.url)]);
    await Promise.all(stores.map((store) => store.now!()));
    await Promise.all([postgres.restart(), mariadb.restart()]);
    for (const store of stores) {
      expect(await store.listLeases('unused')).toEqual([]);
      await store.close();
    }
  });

  it('shows no password when it is the wrong one', async () => {
    const store = await openStore(mariadb.url.replace('root@', 'root:hunter2@'));
    const failure = await store.listLeases('x').catch((error) => error);
    expect(failure.reason).toBe('ACCESS_DENIED');
    expect(failure.message).toMatch(/^mysql store: listing leases at 127\.0\.0\.1:\d+ failed: Access denied/);
    expect(shown(failure)).not.toContain('hunter2');
    await store.close();
  });
});
