import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Libsql from 'libsql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SqliteDatabase } from '../../../src/stores/sqlite/store.ts';
import { sqliteStore } from '../../../src/stores/sqlite/store.ts';

type Connect = new (path: string) => SqliteDatabase & { close(): unknown };

const builtIn = process.getBuiltinModule('node:sqlite') as { DatabaseSync: Connect } | undefined;
const drivers: [name: string, Database: Connect][] = [['libsql', Libsql]];
if (builtIn) drivers.push(['node:sqlite', builtIn.DatabaseSync]);

const TAKER = fileURLToPath(new URL('scripts/sequence-taker.mjs', import.meta.url));
const PROCESSES = 24;
const BLOCKS = 20;

let folder: string;
let files = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'idsmith-waits-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(drivers)('waiting for a file with %s', (_, Database) => {
  /** Two connections to a new file: a store's and somebody else's. */
  async function pair(journal: string) {
    const file = join(folder, `${files++}.db`);
    const [db, other] = [new Database(file), new Database(file)];
    other.exec(`PRAGMA journal_mode = ${journal}`);
    const store = sqliteStore(db);
    await store.defineSequence({ name: 'orders' });
    await store.listLeases('any');
    return { file, db, other, store };
  }

  it('does not block the thread, whatever wait the connection has, and leaves it that wait', async () => {
    const { db, other, store } = await pair('WAL');
    db.exec('PRAGMA busy_timeout = 600000');
    other.exec('BEGIN IMMEDIATE');
    // If the thread were blocked, the transaction in the same thread could never end.
    const waiting = store.allocate('orders', 1);
    await new Promise((resolve) => setImmediate(resolve));
    other.exec('COMMIT');
    expect((await waiting).first).toBe(1n);
    expect(db.prepare('PRAGMA busy_timeout').all()).toEqual([{ timeout: 600_000 }]);
  });

  it.each(['WAL', 'DELETE'])(
    'is not needed for reading while somebody is about to write (%s)',
    async (journal) => {
      const { file, other, store } = await pair(journal);
      other.exec('BEGIN IMMEDIATE');
      expect((await store.describeSequence('orders')).next).toBe(1n);
      expect(await store.listSequences()).toHaveLength(1);
      expect(await store.listLeases('any')).toEqual([]);
      // A connection that comes now finds the tables.
      const later = sqliteStore(new Database(file));
      expect((await later.describeSequence('orders')).next).toBe(1n);
      expect(await later.listLeases('any')).toEqual([]);
      other.exec('COMMIT');
    },
  );

  it('a reader that met a lock does not spoil later writes', async () => {
    const { db, other, store } = await pair('DELETE');
    other.exec('BEGIN EXCLUSIVE');
    const waiting = store.describeSequence('orders');
    await new Promise((resolve) => setImmediate(resolve));
    other.exec('COMMIT');
    expect((await waiting).next).toBe(1n);
    await store.allocate('orders', 1);
    // Another connection sees what was acknowledged.
    expect(other.prepare('SELECT next_block_start AS next FROM id_sequences').all()).toEqual([{ next: 21 }]);
    db.exec('BEGIN IMMEDIATE; ROLLBACK');
  });
});

describe('a file that many processes share', () => {
  it(`${PROCESSES} of them take blocks, and none is refused`, { timeout: 300_000 }, async () => {
    const file = join(folder, 'shared.db');
    const runs = await Promise.all(
      Array.from({ length: PROCESSES }, async () => {
        const taker = spawn(process.execPath, [TAKER, file, String(BLOCKS)]);
        let [output, errors] = ['', ''];
        taker.stdout.on('data', (chunk) => {
          output += chunk;
        });
        taker.stderr.on('data', (chunk) => {
          errors += chunk;
        });
        const code = await new Promise((resolve) => taker.on('close', resolve));
        return { code, output, errors };
      }),
    );
    expect(runs.filter(({ errors }) => errors.includes('locked')).length).toBe(0);
    expect(runs.map(({ code }) => code)).toEqual(Array(PROCESSES).fill(0));
    const firsts = runs.flatMap(({ output }) => output.trim().split('\n').map(Number));
    firsts.sort((a, b) => a - b);
    expect(firsts).toEqual(Array.from({ length: PROCESSES * BLOCKS }, (_, i) => 1 + 10 * i));
  });
});
