import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { acquireLease } from 'idsmith';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../src/stores/open.ts';
import { sqliteStore } from '../../src/stores/sqlite/store.ts';
import type { Store } from '../../src/stores/store.ts';
import { allRepeats, Minter, mintWhile, NO_REPEATS } from './minters.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'idsmith-lineage-'));
  file = join(folder, 'ids.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

const minter = async () => new Minter(await openStore(`sqlite:${file}`));

describe('A SQLite file that an older one replaces', () => {
  it('is noticed by old and new processes: 0 repeats', async () => {
    const survivor = await (await minter()).acquire();
    await survivor.store.defineSequence({ name: 'orders', blockSize: 10 });
    await survivor.take(5);
    // A whole copy, without a log beside it.
    const db = new Database(file);
    db.exec(`VACUUM INTO '${join(folder, 'backup.db')}'`);
    db.close();
    const forgotten = await (await minter()).acquire();
    const old = [survivor, forgotten];
    for (const each of old) {
      await each.take(30);
      each.mint(1000);
    }
    await forgotten.begin();
    for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true });
    renameSync(join(folder, 'backup.db'), file);
    const newcomer = await minter();
    await newcomer.begin();
    const all = [...old, newcomer];
    await Promise.all(all.map((each) => each.take(10)));
    for (const each of old) expect(each.errors.length).toBe(20);
    await mintWhile(old, newcomer.acquire());
    newcomer.mint(1000);
    expect(newcomer.numbers.length).toBe(100);
    expect(newcomer.flakes.length).toBe(1000);
    expect(allRepeats(all)).toEqual(NO_REPEATS);
    await Promise.allSettled(all.map((each) => each.end()));
  });

  it('makes newcomers wait for a lease with a longer ttl, though the note of the ttl is lost, too', async () => {
    const options = { namespace: 'nodes', size: 8, maxSkew: 1000 };
    const stores = await Promise.all([1, 2].map(() => openStore(`sqlite:${file}`)));
    const [before, lost] = stores as [Store, Store];
    const known = await acquireLease(before, options);
    const db = new Database(file);
    db.exec(`VACUUM INTO '${join(folder, 'backup.db')}'`);
    db.close();
    const long = await acquireLease(lost, { ...options, ttl: 120_000 });
    const { until } = long;
    for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true });
    renameSync(join(folder, 'backup.db'), file);
    const next = await openStore(`sqlite:${file}`);
    await expect(acquireLease(next, { ...options, waitFor: 0 })).rejects.toThrow('can be used at');
    const birth = (await next.listLeases('nodes')).find(({ id }) => id === -1);
    expect(birth?.fence).toBeGreaterThanOrEqual(until);
    await Promise.allSettled([known, long].map((lease) => lease.release()));
    await Promise.allSettled([...stores, next].map((store) => store.close()));
  });

  it('is noticed by those who remember when its content is copied into the same file', async () => {
    // With a rollback journal, everything is in the one file.
    const survivor = new Minter(sqliteStore(new Database(file)));
    await survivor.store.defineSequence({ name: 'orders', blockSize: 10 });
    await survivor.take(5);
    copyFileSync(file, join(folder, 'backup.db'));
    await survivor.take(30);
    copyFileSync(join(folder, 'backup.db'), file);
    await survivor.take(10);
    expect(survivor.errors).toEqual(['STORE_WENT_BACK', 'STORE_WENT_BACK']);
    expect(allRepeats([survivor])).toEqual(NO_REPEATS);
  });

  it('is no loss when the file was only closed, or moved on its disk', async () => {
    const before = await minter();
    await before.store.defineSequence({ name: 'orders', blockSize: 10 });
    await before.take(1);
    await before.end();
    renameSync(file, join(folder, 'moved.db'));
    file = join(folder, 'moved.db');
    const after = await minter();
    await after.take(1);
    expect(after.numbers[0]).toBe(11n);
    await after.end();
  });
});
