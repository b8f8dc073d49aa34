import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { acquireLease, FlakeGenerator, LeaseFencedError, type LeaseRecord, StoreError } from 'idsmith';
import { FakeTime } from 'idsmith/testing';
import Libsql from 'libsql';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../../src/stores/open.ts';
import type { SqliteDatabase } from '../../../src/stores/sqlite/store.ts';
import { sqliteStore } from '../../../src/stores/sqlite/store.ts';
import type { Store } from '../../../src/stores/store.ts';

type Connect = new (path: string) => SqliteDatabase & { close(): unknown };

const builtIn = process.getBuiltinModule('node:sqlite') as { DatabaseSync: Connect } | undefined;
const drivers: [name: string, Database: Connect][] = [['libsql', Libsql]];
if (builtIn) drivers.push(['node:sqlite', builtIn.DatabaseSync]);

const RECORD: LeaseRecord = { id: 0, owner: 'a', epoch: 1, fence: 1000, expiresAt: 2000, label: 'host 1' };

/** Everything that asks for ids, renews a lease or tells whether the store is well. */
const CALLS: [what: string, call: (store: Store) => Promise<unknown>][] = [
  ['an allocation', (store) => store.allocate('orders', 1)],
  ['a definition', (store) => store.defineSequence({ name: 'more' })],
  ['an alteration', (store) => store.alterSequence('orders', { blockSize: 5 })],
  ['a list of sequences', (store) => store.listSequences()],
  ['a renewal', (store) => store.swapLease('x', RECORD, { ...RECORD, fence: 3000 })],
  ['a list of leases', (store) => store.listLeases('x')],
  ['the clock, by which a server knows that it is ready', (store) => store.now!()],
];

const GONE = /has been removed or replaced since it was opened/;

let folder: string;
let file: string;
let files = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'idsmith-sqlite-file-'));
});
beforeEach(() => {
  file = join(folder, `${files++}.db`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A store with a sequence and a lease. */
async function filled(store: Store): Promise<Store> {
  await store.defineSequence({ name: 'orders', blockSize: 10 });
  await store.allocate('orders', 1);
  await store.swapLease('x', undefined, RECORD);
  return store;
}

async function expectGone(store: Store): Promise<void> {
  for (const [, call] of CALLS) {
    const failure = await call(store).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StoreError);
    expect((failure as Error).message).toMatch(GONE);
  }
}

/** What may happen to a file that is open. */
const CHANGES: [what: string, happen: (file: string) => unknown][] = [
  ['removed', (path) => rmSync(path)],
  ['moved away', (path) => renameSync(path, `${path}.old`)],
  [
    'replaced by another',
    (path) => {
      const other = `${path}.other`;
      const db = new Libsql(other);
      db.exec('CREATE TABLE other (x)');
      db.close();
      renameSync(other, path);
    },
  ],
  [
    'replaced by a copy of itself',
    (path) => {
      copyFileSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
  ],
  ['deprived of its log', (path) => rmSync(`${path}-wal`)],
  ['deprived of its locks', (path) => rmSync(`${path}-shm`)],
];

describe.each(CHANGES)('a file that was %s', (_what, happen) => {
  it('is no longer used by the store that openStore has made', async () => {
    const store = await filled(await openStore(`sqlite:${file}`));
    happen(file);
    await expectGone(store);
    await store.close();
  });

  it.each(drivers)("is no longer used by a store on somebody's connection of %s", async (_name, Database) => {
    const db = new Database(file);
    db.exec('PRAGMA journal_mode = WAL');
    const store = await filled(sqliteStore(db));
    happen(file);
    await expectGone(store);
    db.close();
  });
});

describe.each(drivers)('a store on a connection of %s', (_name, Database) => {
  it('renews no lease of a file that was replaced, where another holds the same node', async () => {
    const old = sqliteStore(new Database(file));
    const options = { namespace: 'orders', size: 8 };
    const lease = await acquireLease(old, options);
    expect(lease.id).toBe(0);
    rmSync(file);
    const fresh = sqliteStore(new Database(file));
    const other = await acquireLease(fresh, options);
    expect(other.id).toBe(0);
    const [held] = (await fresh.listLeases('orders')).filter(({ id }) => id === 0);
    await expect(old.swapLease('orders', held, held!)).rejects.toThrow(GONE);
    await expect(old.listLeases('orders')).rejects.toThrow(GONE);
    await other.release();
  });

  it('knows that the file went away before the store was used for the first time', async () => {
    const store = sqliteStore(new Database(file));
    rmSync(file);
    await expect(store.listLeases('x')).rejects.toThrow(GONE);
    expect(existsSync(file)).toBe(false);
  });

  it('goes on when its file is back', async () => {
    const store = await filled(sqliteStore(new Database(file)));
    renameSync(file, `${file}.away`);
    await expectGone(store);
    renameSync(`${file}.away`, file);
    expect(await store.allocate('orders', 1)).toMatchObject({ first: 11n });
  });

  it('goes on when its user chooses another journal', async () => {
    const db = new Database(file);
    db.exec('PRAGMA journal_mode = WAL');
    const store = await filled(sqliteStore(db));
    expect(existsSync(`${file}-wal`)).toBe(true);
    for (const mode of ['DELETE', 'WAL']) {
      db.exec(`PRAGMA journal_mode = ${mode}`);
      for (const [, call] of CALLS)
        await call(store).catch((error) => expect(error.message).not.toMatch(GONE));
    }
    expect(await store.allocate('orders', 1)).toMatchObject({ first: expect.any(BigInt) });
    db.close();
  });

  it('has no file to watch in memory', async () => {
    const store = await filled(sqliteStore(new Database(':memory:')));
    expect(await store.allocate('orders', 1)).toMatchObject({ first: 11n });
  });
});

describe('a store that openStore has made', () => {
  it('leaves everything in the one file when it is closed', async () => {
    const store = await filled(await openStore(`sqlite:${file}`));
    await store.close();
    const copy = `${file}.copy`;
    copyFileSync(file, copy);
    expect(existsSync(`${file}-wal`) ? statSync(`${file}-wal`).size : 0).toBe(0);
    const again = await openStore(`sqlite:${copy}`);
    // Another file may be older than what was given out, so the sequence continues at its ceiling, a thousand blocks further on.
    expect(await again.allocate('orders', 1)).toMatchObject({ first: 10_001n });
    expect(await again.listLeases('x')).toEqual([RECORD]);
    await again.close();
  });

  it('closes while another one writes, and loses nothing', async () => {
    const [one, two] = [await filled(await openStore(`sqlite:${file}`)), new Libsql(file)];
    two.exec('BEGIN IMMEDIATE');
    await one.close();
    two.exec('COMMIT');
    expect(await sqliteStore(two).allocate('orders', 1)).toMatchObject({ first: 11n });
    two.close();
  });

  it('closes though its file is gone', async () => {
    const store = await filled(await openStore(`sqlite:${file}`));
    rmSync(file);
    await store.close();
  });
});

describe('a holder of a lease whose file is replaced', () => {
  it('stops at its next renewal, though time is left in its window', async () => {
    const [store, time] = [await openStore(`sqlite:${file}`), new FakeTime()];
    const lease = await acquireLease(store, { namespace: 'x', size: 2, timer: time });
    const events: string[] = [];
    for (const event of ['fenced', 'renewal-failed', 'renewed'] as const)
      lease.on(event, () => events.push(event));
    const ids = new FlakeGenerator({ node: lease });
    ids.next();
    for (const suffix of ['', '-wal', '-shm']) rmSync(file + suffix, { force: true });
    const other = await openStore(`sqlite:${file}`);
    expect((await acquireLease(other, { namespace: 'x', size: 2, timer: time })).id).toBe(0);
    const later = async () => {
      await time.advance(3000);
      return events;
    };
    await expect.poll(later).toContain('fenced');
    expect(events).not.toContain('renewed');
    expect(() => ids.next()).toThrow(LeaseFencedError);
    await other.close();
    await store.close().catch(() => {});
  });
});

describe('a file behind a symbolic link', () => {
  it('is noticed when the link leads elsewhere', async () => {
    const [first, second, link] = [`${file}-first`, `${file}-second`, `${file}-link`];
    for (const target of [first, second]) await (await filled(await openStore(`sqlite:${target}`))).close();
    symlinkSync(first, link);
    const store = await openStore(`sqlite:${link}`);
    await store.allocate('orders', 1);
    rmSync(link);
    symlinkSync(second, link);
    await expectGone(store);
    await store.close().catch(() => {});
  });
});

/** The work in a namespace of mounts of its own, which Linux grants root. */
const inOwnMounts = (script: string, ...values: string[]) =>
  spawnSync('unshare', ['--mount', 'sh', '-c', script, 'sh', ...values], { encoding: 'utf8' });

describe('a file with two paths', () => {
  it('is refused by every path if it has hard links', async () => {
    const link = `${file}-link`;
    await (await filled(await openStore(`sqlite:${file}`))).close();
    linkSync(file, link);
    for (const path of [file, link]) {
      const refusal = { code: 'INVALID_OPTION', message: expect.stringContaining('has 2 hard links') };
      await expect(openStore(`sqlite:${path}`)).rejects.toMatchObject(refusal);
      for (const [, Database] of drivers) {
        const db = new Database(path);
        expect(() => sqliteStore(db)).toThrow('has 2 hard links');
        db.close();
      }
    }
    rmSync(link);
    await (await openStore(`sqlite:${file}`)).close();
  });

  it('goes on in the processes that opened it before the link was made', async () => {
    const store = await filled(await openStore(`sqlite:${file}`));
    linkSync(file, `${file}-backup`);
    expect(await store.allocate('orders', 1)).toMatchObject({ first: 11n });
    await store.close();
  });

  it.runIf(inOwnMounts('mount --bind /tmp /tmp').status === 0)(
    'is refused if the file alone is mounted, and not if its folder is',
    async () => {
      const [host, container] = [`${file}-host`, `${file}-a container`];
      for (const place of [host, container]) {
        mkdirSync(place);
        writeFileSync(join(place, 'ids.db'), '');
      }
      const taker = fileURLToPath(new URL('scripts/sequence-taker.mjs', import.meta.url));
      const takeWith = (mounted: string) =>
        inOwnMounts(
          'mount --bind "$1" "$2" && node "$3" "$4" 1',
          join(host, mounted),
          join(container, mounted),
          taker,
          join(container, 'ids.db'),
        );
      expect(takeWith('ids.db')).toMatchObject({
        stdout: '',
        stderr: expect.stringContaining('Mount the folder'),
      });
      expect(takeWith('').stdout).toBe('1\n');
    },
  );
});
