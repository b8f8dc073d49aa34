import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from 'idsmith/stores';
import Database from 'libsql';
import { createPool } from 'mysql2/promise';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { describeWith, shared } from '#services';
import { series } from '../../src/series/series.ts';
import { mysqlStore } from '../../src/stores/mysql/store.ts';
import type { Store } from '../../src/stores/store.ts';

// A series with a log takes its numbers in transactions of its own. They are not part of anything that the caller rolls back, so they must not
// come again when the store goes back.

let folder: string;
let file: string;
let opened: Store[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'idsmith-log-'));
  file = join(folder, 'ids.db');
});
afterEach(async () => {
  for (const store of opened) await store.close();
  opened = [];
  rmSync(folder, { recursive: true });
});

async function receipts() {
  const store = await openStore(`sqlite:${file}`);
  opened.push(store);
  return series('receipts', { format: '{tenant}-{n:6}', audit: true, store });
}

async function take(from: Awaited<ReturnType<typeof receipts>>, tenant: string, count: number) {
  const numbers: string[] = [];
  for (let i = 0; i < count; i++) numbers.push(await from.next({ tenant }));
  return numbers;
}

/** A whole copy, without a log beside it. */
function backUp(): string {
  const copy = join(folder, `${opened.length}.db`);
  const db = new Database(file);
  db.exec(`VACUUM INTO '${copy}'`);
  db.close();
  return copy;
}

function putBack(copy: string): void {
  for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true });
  renameSync(copy, file);
}

describe('A series with a log whose store goes back', () => {
  it('repeats no number of a tenant that is left, or of one that is lost', async () => {
    const before = await receipts();
    const kept = await take(before, 'acme', 3);
    const copy = backUp();
    const lost = [...(await take(before, 'acme', 5)), ...(await take(before, 'late', 5))];
    putBack(copy);
    const after = await receipts();
    const again = [...(await take(after, 'acme', 5)), ...(await take(after, 'late', 5))];
    const all = [...kept, ...lost, ...again];
    expect(new Set(all).size).toBe(all.length);
    expect(kept).toEqual(['acme-000001', 'acme-000002', 'acme-000003']);
    expect(again.slice(0, 2)).toEqual(['acme-001001', 'acme-001002']);
    expect(await after.list({ tenant: 'late' })).toHaveLength(5);
  });

  it('gives a process none of its own numbers again when nothing tells of it, and goes on beyond them', async () => {
    const process = await receipts();
    const kept = await take(process, 'acme', 3);
    const lost = await take(process, 'acme', 5);
    // As a restore into the same file does it: under the feet of everybody.
    const db = new Database(file);
    db.exec("UPDATE id_sequences SET next_block_start = 4 WHERE name = 'series:receipts:acme:'");
    db.exec('DELETE FROM id_series_log WHERE number > 3');
    db.close();
    await expect(process.next({ tenant: 'acme' })).rejects.toMatchObject({ code: 'STORE_WENT_BACK' });
    const again = await take(process, 'acme', 3);
    const newcomer = await take(await receipts(), 'acme', 3);
    const all = [...kept, ...lost, ...again, ...newcomer];
    expect(new Set(all).size).toBe(all.length);
    expect(again[0]).toBe('acme-001001');
    expect(await process.list({ tenant: 'acme' })).toHaveLength(3 + 3 + 3);
  });

  it('raises its ceiling as it goes, so that later numbers are covered, too', async () => {
    const process = await receipts();
    await take(process, 'acme', 1001);
    await opened[0]!.close();
    const db = new Database(file);
    const sql = `SELECT CAST(ceiling AS TEXT) AS ceiling FROM idsmith_pasts
      WHERE CAST(name AS TEXT) = 'series:receipts:acme:'`;
    const past = db.prepare(sql).get() as { ceiling: string } | undefined;
    db.close();
    expect(Number(past?.ceiling)).toBeGreaterThan(1001);
  });

  it('uses a number again that it could not log', async () => {
    const process = await receipts();
    await take(process, 'acme', 1);
    const db = new Database(file);
    db.exec('ALTER TABLE id_series_log RENAME TO away');
    await expect(process.next({ tenant: 'acme' })).rejects.toMatchObject({ code: 'STORE' });
    db.exec('ALTER TABLE away RENAME TO id_series_log');
    db.close();
    expect(await take(process, 'acme', 1)).toEqual(['acme-000002']);
  });

  it('makes a counter again that somebody has removed', async () => {
    const process = await receipts();
    await take(process, 'acme', 3);
    const other = await openStore(`sqlite:${file}`);
    opened.push(other);
    await other.removeSequence('series:receipts:acme:');
    // This process remembers its numbers.
    await expect(process.next({ tenant: 'acme' })).rejects.toMatchObject({ code: 'STORE_WENT_BACK' });
    expect(await (await receipts()).next({ tenant: 'acme' })).toBe('acme-001001');
  });
});

await describeWith(['mariadb'], 'A series with a log in a table whose names ignore case', () => {
  it('gives a process none of its own numbers again', async () => {
    const server = await shared('mariadb');
    const pool = createPool({ uri: server.url });
    await pool.query(`CREATE TABLE id_sequences (name VARCHAR(255) COLLATE utf8mb4_general_ci NOT NULL PRIMARY KEY,
      next_block_start BIGINT NOT NULL, block_size INT NOT NULL, exhausted SMALLINT NOT NULL DEFAULT 0)`);
    const codes = () => series('codes', { format: '{n:6}', audit: true, store: mysqlStore(pool) });
    await codes().next({ tenant: 'ACME' });
    const own = codes();
    for (const number of ['000002', '000003']) expect(await own.next({ tenant: 'acme' })).toBe(number);
    await pool.query('UPDATE id_sequences SET next_block_start = 2 WHERE name = ?', ['series:codes:acme:']);
    await pool.query('DELETE FROM id_series_log WHERE number > 1');
    await expect(own.next({ tenant: 'acme' })).rejects.toMatchObject({ code: 'STORE_WENT_BACK' });
    await pool.end();
    await server.stop();
  });
});
