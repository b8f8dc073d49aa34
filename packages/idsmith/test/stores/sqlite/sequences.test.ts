import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Block } from 'idsmith';
import Libsql from 'libsql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SqliteConnection } from '../../../src/drivers/sqlite.ts';
import { sqliteStore } from '../../../src/stores/sqlite/store.ts';
import { tableCases } from '../sql/table-cases.ts';
import { loadCases } from '../support/load-cases.ts';
import {
  expectNoGap,
  type PlainSqlWay,
  repeatedly,
  type SharedDatabase,
  type UpstreamRow,
  upstreamTable,
} from '../support/shared-database.ts';

type Connect = new (path: string) => SqliteConnection & { close(): unknown };

const builtIn = process.getBuiltinModule('node:sqlite') as { DatabaseSync: Connect } | undefined;
const drivers: [name: string, Database: Connect][] = [['libsql', Libsql]];
if (builtIn) drivers.push(['node:sqlite', builtIn.DatabaseSync]);

let folder: string;
let files = 0;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'idsmith-sequences-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A file, with connections that do not block each other's thread, because it is the same one. */
function labOn(Database: Connect, file = join(folder, `${files++}.db`)): SharedDatabase {
  const connect = () => {
    const db = new Database(file);
    db.exec('PRAGMA busy_timeout = 1');
    return db;
  };
  const other = connect();
  const all = [other];
  other.exec('PRAGMA journal_mode = WAL');
  let statements = 0;
  return {
    store() {
      const db = connect();
      all.push(db);
      const counted: SqliteConnection = {
        exec: (sql) => db.exec(sql),
        prepare: (sql) => {
          statements++;
          return db.prepare(sql);
        },
      };
      return sqliteStore(counted);
    },
    statements: () => statements,
    sql: async (text) => other.exec(text),
    async row(name) {
      const [row] = other
        .prepare(
          `SELECT CAST(next_block_start AS TEXT) AS next_block_start, CAST(block_size AS TEXT) AS block_size,
            CAST(exhausted AS TEXT) AS exhausted FROM id_sequences WHERE name = ?`,
        )
        .all(name);
      return row === undefined ? undefined : { ...(row as UpstreamRow) };
    },
    async takeBlockBySql(name, way) {
      const db = connect();
      for (;;) {
        try {
          const block = await takeWithPlainSql(db, name, way);
          db.close();
          return block;
        } catch (error) {
          // Another one was writing; the transaction is over.
          if (!/locked|busy/.test(String(error))) throw error;
          await tick();
        }
      }
    },
    close: async () => all.map((db) => db.close()),
  };
}

const tick = () => new Promise((resolve) => setImmediate(resolve));

/** In two steps with a pause between them, in which others may run. */
async function takeWithPlainSql(db: SqliteConnection, name: string, way: PlainSqlWay): Promise<Block> {
  const read = () => {
    const sql = `SELECT CAST(next_block_start AS TEXT) AS next, CAST(block_size AS TEXT) AS size
      FROM id_sequences WHERE name = '${name}'`;
    const [{ next, size }] = db.prepare(sql).all() as [{ next: string; size: string }];
    return { first: BigInt(next), step: 1, count: Number(size) };
  };
  db.exec(way === 'locks the row, reads and writes' ? 'BEGIN IMMEDIATE' : 'BEGIN');
  try {
    if (way === 'writes and reads') {
      db.exec(
        `UPDATE id_sequences SET next_block_start = next_block_start + block_size WHERE name = '${name}'`,
      );
      await tick();
      const { first, count } = read();
      db.exec('COMMIT');
      return { first: first - BigInt(count), step: 1, count };
    }
    const block = read();
    await tick();
    const next = block.first + BigInt(block.count);
    db.exec(`UPDATE id_sequences SET next_block_start = ${next} WHERE name = '${name}'`);
    db.exec('COMMIT');
    return block;
  } catch (error) {
    db.exec('ROLLBACK');
    throw error;
  }
}

describe.each(drivers)('sequences in SQLite on %s', (_name, Database) => {
  // In SQLite a column needs no type, and then keeps what it is given.
  tableCases(async () => labOn(Database), ['DEFAULT 0', "TEXT DEFAULT '0'"]);
  loadCases(async () => labOn(Database));

  it('waits while another connection writes', async () => {
    const file = join(folder, `${files++}.db`);
    const store = sqliteStore(new Database(file));
    await store.defineSequence({ name: 'orders' });
    const other = new Database(file);
    other.exec('BEGIN IMMEDIATE');
    setTimeout(() => other.exec('COMMIT'), 300);
    expect((await store.allocate('orders', 1)).first).toBe(1n);
  });

  it('makes its tables and the marker once, and no other table', async () => {
    const db = new Database(':memory:');
    const executed: string[] = [];
    const store = sqliteStore({
      exec: (sql) => executed.push(sql) && db.exec(sql),
      prepare: (sql) => db.prepare(sql),
    });
    await Promise.all([store.listSequences(), store.defineSequence({ name: 'x' })]);
    await repeatedly(3, () => store.allocate('x', 1));
    expect(executed.filter((sql) => /CREATE|ALTER/.test(sql))).toEqual([
      expect.stringMatching(/^CREATE TABLE IF NOT EXISTS idsmith_schema/),
      expect.stringMatching(/^CREATE TABLE IF NOT EXISTS id_sequences/),
      expect.stringMatching(/^CREATE TABLE IF NOT EXISTS idsmith_pasts/),
    ]);
    await sqliteStore({
      exec: (sql) => executed.push(sql) && db.exec(sql),
      prepare: (sql) => db.prepare(sql),
    }).listSequences();
    expect(executed.filter((sql) => /CREATE|ALTER/.test(sql))).toHaveLength(3);
  });

  it('fails when a sum of another program has become a fraction', async () => {
    const shared = labOn(Database);
    const store = shared.store();
    await store.defineSequence({ name: 'over', start: 2n ** 63n - 5n });
    await shared.sql(`UPDATE id_sequences SET next_block_start = next_block_start + block_size`);
    await expect(store.allocate('over', 1)).rejects.toThrow(
      /next_block_start of sequence "over" is 9\.2\d*e\+18, not a whole number/,
    );
    await shared.close();
  });
});

describe('processes on one SQLite file', () => {
  const script = fileURLToPath(new URL('scripts/sequence-taker.mjs', import.meta.url));

  /** Runs a process that takes so many blocks, or is killed after so many, and gives their first ids. */
  function take(file: string, blocks: number, killedAfter = Number.POSITIVE_INFINITY): Promise<bigint[]> {
    return new Promise((resolve, reject) => {
      const child = spawn(process.execPath, [script, file, String(blocks)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let text = '';
      const firsts = () => text.split('\n').slice(0, -1);
      child.stdout.on('data', (chunk) => {
        text += chunk;
        if (firsts().length >= killedAfter) child.kill('SIGKILL');
      });
      child.once('error', reject);
      child.once('close', (code, signal) => {
        if (code === 0 || signal === 'SIGKILL') resolve(firsts().map(BigInt));
        else reject(new Error(`the process ended with ${code}`));
      });
    });
  }

  const blockOf = (first: bigint) => ({ first, step: 1, count: 10 });

  it('set up and share a sequence, twenty at once, in a table that upstream has made', async () => {
    const file = join(folder, `${files++}.db`);
    const db = new Libsql(file);
    db.exec(upstreamTable());
    db.close();
    const firsts = (await Promise.all(Array.from({ length: 20 }, () => take(file, 5)))).flat();
    expect(firsts).toHaveLength(100);
    expectNoGap(firsts.map(blockOf));
  });

  it('never get the ids of one that was killed', async () => {
    const file = join(folder, `${files++}.db`);
    const victims = [1, 2, 3].map((n) => take(file, 10_000, 15 * n));
    const others = [1, 2].map(() => take(file, 100));
    const firsts = (await Promise.all([...victims, ...others])).flat();
    // A victim may have had one block that it did not come to tell of.
    const sorted = firsts.sort((a, b) => (a < b ? -1 : 1));
    expect(sorted.filter((first, i) => first === sorted[i - 1])).toEqual([]);
    const lost = (sorted.at(-1)! - 1n) / 10n + 1n - BigInt(sorted.length);
    expect(lost).toBeLessThanOrEqual(3n);
  });
});
