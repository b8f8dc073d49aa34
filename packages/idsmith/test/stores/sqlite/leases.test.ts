import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvalidOptionError, type LeaseRecord, StoreError } from 'idsmith';
import { leaseStoreCases, sequenceStoreCases } from 'idsmith/testing';
import Libsql from 'libsql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SqliteDatabase } from '../../../src/stores/sqlite/store.ts';
import { sqliteStore } from '../../../src/stores/sqlite/store.ts';
import { inProcess } from '../../support/workers.ts';

type Connect = new (path: string) => SqliteDatabase & { close(): unknown };

const builtIn = process.getBuiltinModule('node:sqlite') as { DatabaseSync: Connect } | undefined;
const drivers: [name: string, Database: Connect][] = [['libsql', Libsql]];
if (builtIn) drivers.push(['node:sqlite', builtIn.DatabaseSync]);

const RECORD: LeaseRecord = { id: 0, owner: 'a', epoch: 1, fence: 1000, expiresAt: 2000, label: 'host 1' };

let folder: string;
let files = 0;
const newFile = () => join(folder, `${files++}.db`);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'idsmith-sqlite-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(drivers)('the sqlite store on %s', (_name, Database) => {
  describe('in memory', () => {
    const store = sqliteStore(new Database(':memory:'));
    for (const { name, run } of leaseStoreCases(() => store)) it(name, run);
    for (const { name, run } of sequenceStoreCases(() => store)) it(name, run);
  });

  describe('on two connections to one file', () => {
    let turn = 0;
    let stores: ReturnType<typeof sqliteStore>[] = [];
    beforeAll(() => {
      const file = newFile();
      stores = [1, 2].map(() => {
        const db = new Database(file);
        db.exec('PRAGMA journal_mode = WAL');
        return sqliteStore(db);
      });
    });
    for (const { name, run } of leaseStoreCases(() => stores[turn++ % 2]!)) it(name, run);
    for (const { name, run } of sequenceStoreCases(() => stores[turn++ % 2]!)) it(name, run);

    it('sees through one what was put through the other', async () => {
      const [one, two] = stores;
      expect(await one!.swapLease('shared', undefined, RECORD)).toBe(true);
      expect(await two!.swapLease('shared', undefined, { ...RECORD, owner: 'b' })).toBe(false);
      expect(await two!.listLeases('shared')).toEqual([RECORD]);
    });
  });

  it('has the clock of the machine', async () => {
    const before = Date.now();
    const now = await sqliteStore(new Database(':memory:')).now!();
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(Date.now());
  });

  it('waits while another connection writes', async () => {
    const file = newFile();
    const store = sqliteStore(new Database(file));
    await store.listLeases('x');
    const other = new Database(file);
    other.exec('BEGIN IMMEDIATE');
    setTimeout(() => other.exec('COMMIT'), 300);
    expect(await store.swapLease('x', undefined, RECORD)).toBe(true);
  });

  it('fails while its user has a transaction open on the connection, and leaves that alone', async () => {
    const db = new Database(':memory:');
    const store = sqliteStore(db);
    await store.listLeases('x');
    db.exec('BEGIN');
    await expect(store.swapLease('x', undefined, RECORD)).rejects.toThrow(StoreError);
    await expect(store.listLeases('x')).rejects.toThrow(/within a transaction/);
    db.exec('ROLLBACK');
    expect(await store.swapLease('x', undefined, RECORD)).toBe(true);
  });

  it('leaves the connection open when it is closed', async () => {
    const db = new Database(':memory:');
    const store = sqliteStore(db);
    await store.swapLease('x', undefined, RECORD);
    await store.close();
    expect(db.prepare('SELECT count(*) AS n FROM idsmith_leases').all()).toEqual([{ n: 1 }]);
  });

  it('makes its table once', async () => {
    const db = new Database(':memory:');
    const executed: string[] = [];
    const watched: SqliteDatabase = {
      exec: (sql) => executed.push(sql) && db.exec(sql),
      prepare: (sql) => db.prepare(sql),
    };
    const store = sqliteStore(watched);
    await Promise.all([store.listLeases('x'), store.listLeases('y')]);
    await store.listLeases('x');
    expect(executed.filter((sql) => /^CREATE TABLE .*idsmith_leases/.test(sql))).toHaveLength(1);
  });

  it('gives up after some seconds on a file that stays locked, and writes it when it is free', async () => {
    const file = newFile();
    const db = new Database(file);
    db.exec('PRAGMA busy_timeout = 1');
    const store = sqliteStore(db);
    await store.listLeases('x');
    const other = new Database(file);
    other.exec('BEGIN EXCLUSIVE');
    const failure = await store.swapLease('x', undefined, RECORD).catch((error) => error);
    expect(failure).toBeInstanceOf(StoreError);
    expect(failure.reason).toBe('LOCKED');
    expect(failure.message).toMatch(/^sqlite store: changing a lease failed: .*locked/);
    expect(failure.cause).toBeInstanceOf(Error);
    other.exec('ROLLBACK');
    expect(await store.swapLease('x', undefined, RECORD)).toBe(true);
    expect(other.prepare('SELECT owner FROM idsmith_leases').all()).toEqual([{ owner: 'a' }]);
  });

  it('acknowledges only what is on the disk', async () => {
    const db = new Database(newFile());
    db.exec('PRAGMA synchronous = OFF');
    await sqliteStore(db).listLeases('x');
    expect(db.prepare('PRAGMA synchronous').all()).toEqual([{ synchronous: 3 }]);
  });

  it('keeps the time that its user has set for waiting', async () => {
    const db = new Database(newFile());
    db.exec('PRAGMA busy_timeout = 1234');
    await sqliteStore(db).listLeases('x');
    expect(db.prepare('PRAGMA busy_timeout').all()).toEqual([{ timeout: 1234 }]);
  });

  it('turns an error of the driver into a StoreError with the cause', async () => {
    const db = new Database(':memory:');
    const store = sqliteStore(db);
    db.close();
    const failure = await store.listLeases('x').catch((error) => error);
    expect(failure).toBeInstanceOf(StoreError);
    expect(failure.message).toMatch(/^sqlite store: listing leases failed: .*not open/);
    expect(failure.cause).toBeInstanceOf(Error);
  });

  it('fails rather than round a number', async () => {
    const db = new Database(':memory:');
    const store = sqliteStore(db);
    await store.swapLease('x', undefined, RECORD);
    db.exec('UPDATE idsmith_leases SET fence = 9007199254740993');
    await expect(store.listLeases('x')).rejects.toThrow(/fence is 9007199254740993/);
  });

  it.each(['', 'x'.repeat(256), 'a\0b', '\ud800'])('refuses the namespace %j', async (namespace) => {
    const store = sqliteStore(new Database(':memory:'));
    await expect(store.listLeases(namespace)).rejects.toThrow(InvalidOptionError);
    await expect(store.swapLease(namespace, undefined, RECORD)).rejects.toThrow(InvalidOptionError);
  });

  it('takes a namespace of 255 characters', async () => {
    const store = sqliteStore(new Database(':memory:'));
    expect(await store.swapLease('ü'.repeat(255), undefined, RECORD)).toBe(true);
    expect(await store.listLeases('ü'.repeat(255))).toEqual([RECORD]);
  });
});

describe('processes on one SQLite file', () => {
  const script = new URL('scripts/lease-racer.mjs', import.meta.url);
  const modes = [
    [20, 'that openStore opens'],
    [6, 'with a rollback journal'],
  ] as const;

  it.each(modes)('set up and share one, %i at once, %s', async (count, mode) => {
    const file = newFile();
    // A lease waits for the file for 20 seconds at most, however many others write.
    const rounds = 5;
    const racers = Array.from({ length: count }, (_, i) => [mode, file, `racer ${i}`, String(rounds)]);
    const outputs = await Promise.all(racers.map((args) => inProcess(script, args)));
    const won = outputs.flatMap((output) => JSON.parse(output) as number[]);
    expect(won.sort((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const store = sqliteStore(new Libsql(file));
    const counter = (await store.listLeases('race')).find(({ id }) => id === 10);
    expect(counter?.epoch).toBe(count * rounds);
  });
});
