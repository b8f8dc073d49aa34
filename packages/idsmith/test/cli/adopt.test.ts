import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Sequences } from 'idsmith';
import { openStore } from 'idsmith/stores';
import Database from 'libsql';
import { createPool, type Pool } from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith, type StoreServer, shared } from '#services';
import { Activity } from '../../src/cli/activity.ts';
import { adoptCommand } from '../../src/cli/adopt/adopt.ts';
import { readArguments } from '../../src/cli/arguments.ts';
import { failureOf } from '../../src/cli/failure.ts';
import { idsmith } from './in-process.ts';

/** Runs the command in this process, and gives what a terminal would see. */
async function adopt(url: string, name: string, table: string, ...more: string[]) {
  const args = [name, '--table', table, '--column', 'id', '--store', url, ...more];
  const lines: string[] = [];
  try {
    const given = {
      ...readArguments(adoptCommand, args),
      signal: new AbortController().signal,
      activity: new Activity(false, process.stderr),
      io: process,
    };
    for await (const line of adoptCommand.run(given)) lines.push(line);
    return { status: 0, stdout: lines.join('\n'), stderr: '' };
  } catch (error) {
    const { exitCode, message } = failureOf(error);
    return { status: exitCode, stdout: lines.join('\n'), stderr: message };
  }
}

/** The statements that a refusal tells to run, in its order. */
const waysIn = (stderr: string) =>
  [...stderr.matchAll(/run (ALTER .*?)(?=[;.] |, and)/g)].map((match) => match[1]!);

async function nextOf(url: string, name: string): Promise<bigint> {
  const store = await openStore(url);
  try {
    return (await store.describeSequence(name)).next;
  } finally {
    await store.close();
  }
}

/** Takes ids of a sequence and writes rows, until it is told to stop. */
async function writeIds(url: string, name: string, insert: (id: bigint) => Promise<unknown>, count: number) {
  const store = await openStore(url);
  const sequences = new Sequences(store);
  const sequence = await sequences.get(name);
  for (let i = 0; i < count; i++) await insert(await sequence.next());
  await sequences.close();
  await store.close();
}

await describeWith(['postgres'], 'seq adopt in PostgreSQL', () => {
  let server: StoreServer;
  let pool: pg.Pool;
  beforeAll(async () => {
    server = await shared('postgres');
    pool = new pg.Pool({ connectionString: server.url });
    pool.on('error', () => {});
  });
  afterAll(async () => {
    await pool?.end();
    await server?.stop();
  });
  const fill = (table: string, rows: number) =>
    pool.query(`INSERT INTO ${table} (note) SELECT 'old' FROM generate_series(1, ${rows})`);

  it('refuses while the default of a serial column writes, and goes on after either way out', async () => {
    await pool.query('CREATE TABLE orders (id serial PRIMARY KEY, note text)');
    await fill('orders', 150);
    const refused = await adopt(server.url, 'orders', 'orders');
    expect(refused.status).toBe(1);
    const { rows } = await pool.query("SELECT to_regclass('id_sequences') AS made");
    expect(rows).toEqual([{ made: null }]);
    expect(refused.stderr).toContain(
      "the default nextval('orders_id_seq'::regclass) still gives ids to orders.id",
    );
    await expect(nextOf(server.url, 'orders')).rejects.toThrow('no sequence');
    const [drop, hold] = waysIn(refused.stderr);
    expect(drop).toBe('ALTER TABLE orders ALTER COLUMN id DROP DEFAULT');
    expect(hold).toMatch(/^ALTER SEQUENCE orders_id_seq MAXVALUE \d+ NO CYCLE$/);

    // Old programs go on, below.
    await pool.query(hold!);
    const held = BigInt(/MAXVALUE (\d+)/.exec(hold!)![1]!);
    expect((await adopt(server.url, 'orders', 'orders')).status).toBe(0);
    expect(await nextOf(server.url, 'orders')).toBe(held + 1n);

    await pool.query('CREATE TABLE parcels (id serial PRIMARY KEY, note text)');
    await fill('parcels', 150);
    await pool.query('ALTER TABLE parcels ALTER COLUMN id DROP DEFAULT');
    // The last id was given to a row that is gone.
    await pool.query('DELETE FROM parcels WHERE id > 100');
    const { status, stdout } = await adopt(server.url, 'parcels', 'parcels');
    expect(status).toBe(0);
    expect(stdout).toContain('next 151');
    expect(await nextOf(server.url, 'parcels')).toBe(151n);
    const again = await adopt(server.url, 'parcels', 'parcels', '--json');
    expect(JSON.parse(again.stdout)).toMatchObject({
      state: 'adopted',
      highest: '100',
      next: '151',
      max: '2147483647',
    });
  });

  it('changes nothing in a dry run, and tells what it would do', async () => {
    await pool.query('CREATE TABLE plain (id bigint PRIMARY KEY)');
    await pool.query('INSERT INTO plain VALUES (9007199254740993)');
    const { status, stdout } = await adopt(server.url, 'plain', 'plain', '--dry-run');
    expect(status).toBe(0);
    expect(stdout).toContain('is new; next 9007199254740994');
    await expect(nextOf(server.url, 'plain')).rejects.toThrow('no sequence');
    expect((await adopt(server.url, 'orders', 'orders', '--dry-run')).status).toBe(0);
  });

  it.each(['ALWAYS', 'BY DEFAULT'])('ends or holds an identity %s', async (kind) => {
    const table = `tickets_${kind.length}`;
    await pool.query(
      `CREATE TABLE ${table} (id bigint GENERATED ${kind} AS IDENTITY PRIMARY KEY, note text)`,
    );
    await fill(table, 10);
    const refused = await adopt(server.url, table, table);
    expect(refused.status).toBe(1);
    const [drop, hold] = waysIn(refused.stderr);
    await pool.query(hold!);
    expect((await adopt(server.url, table, table)).status).toBe(0);
    const next = await nextOf(server.url, table);
    await pool.query(`INSERT INTO ${table} VALUES (${next}, 'new')`);
    await fill(table, 1);
    await pool.query(drop!);
    expect((await adopt(server.url, table, table)).status).toBe(0);
  });

  it('goes past the blocks that Hibernate may have taken, once its sequence is held', async () => {
    await pool.query('CREATE TABLE claims (id bigint PRIMARY KEY)');
    await pool.query('CREATE SEQUENCE claims_seq INCREMENT BY 50');
    await pool.query("SELECT nextval('claims_seq'), nextval('claims_seq')");
    await pool.query('INSERT INTO claims VALUES (7)');
    const refused = await adopt(server.url, 'claims', 'claims', '--native', 'claims_seq');
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain('the sequence claims_seq still gives ids');
    await pool.query('ALTER SEQUENCE claims_seq MAXVALUE 51 NO CYCLE');
    expect((await adopt(server.url, 'claims', 'claims', '--native', 'claims_seq')).status).toBe(0);
    // 51 may stand for the ids 51 to 100.
    expect(await nextOf(server.url, 'claims')).toBe(101n);
  });

  it('passes an id of a transaction that is still open, and waits for no lock', async () => {
    await pool.query('CREATE TABLE late (id bigint PRIMARY KEY)');
    const client = await pool.connect();
    await client.query('BEGIN');
    await client.query('INSERT INTO late VALUES (5000)');
    const adopting = adopt(server.url, 'late', 'late');
    // It has raised the sequence past what can be seen, and tries to get its lock.
    for (;;) {
      const next = await nextOf(server.url, 'late').catch(() => 0n);
      if (next > 0n) break;
    }
    // Others still write.
    await pool.query('INSERT INTO late VALUES (6000)');
    await client.query('COMMIT');
    client.release();
    expect((await adopting).status).toBe(0);
    expect(await nextOf(server.url, 'late')).toBe(6001n);
  });

  it('continues the table of the original', async () => {
    await pool.query('CREATE SCHEMA original');
    const url = `${server.url}?options=-c%20search_path=original`;
    await pool.query(`CREATE TABLE original.id_sequences (name VARCHAR(255) NOT NULL PRIMARY KEY, next_block_start DECIMAL(12,0) NOT NULL,
      block_size DECIMAL(10,0) NOT NULL, exhausted DECIMAL(1,0) DEFAULT 0 NOT NULL)`);
    await pool.query("INSERT INTO original.id_sequences VALUES ('members', 101, 20, 0)");
    await pool.query('CREATE TABLE original.members (id integer PRIMARY KEY)');
    await pool.query('INSERT INTO original.members VALUES (500)');
    const { status, stdout } = await adopt(url, 'members', 'original.members');
    expect(status).toBe(0);
    expect(stdout).toContain('was at 101; next 501');
    expect(await nextOf(url, 'members')).toBe(501n);
  });

  it('gives no id twice while old programs and new ones write, before and after', async () => {
    await pool.query('CREATE TABLE busy (id serial PRIMARY KEY, note text)');
    await fill('busy', 20);
    await pool.query('ALTER SEQUENCE busy_id_seq MAXVALUE 100000 NO CYCLE');
    let isOver = false;
    const old = Array.from({ length: 4 }, async () => {
      while (!isOver) await fill('busy', 1);
    });
    expect((await adopt(server.url, 'busy', 'busy')).status).toBe(0);
    const insert = (id: bigint) => pool.query('INSERT INTO busy VALUES ($1)', [id]);
    await Promise.all([writeIds(server.url, 'busy', insert, 100), writeIds(server.url, 'busy', insert, 100)]);
    isOver = true;
    // An id that came twice would have been an error of its primary key.
    await Promise.all(old);
    const { rows } = await pool.query('SELECT count(*)::int AS n FROM busy WHERE id > 100000');
    expect(rows[0].n).toBe(200);
  });

  it('names the table or column that is missing, and a column that has no numbers', async () => {
    expect(await adopt(server.url, 'x', 'nowhere')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('there is no column "id" in a table "nowhere"'),
    });
    await pool.query('CREATE TABLE texts (id text)');
    expect((await adopt(server.url, 'x', 'texts')).stderr).toContain('adopt is for whole numbers');
    expect((await adopt(server.url, 'x', 'plain', '--native', 'nothing')).stderr).toContain(
      'no sequence "nothing"',
    );
    expect((await adopt('memory:', 'x', 'plain')).stderr).toContain('--store: a store in memory');
    expect((await adopt('etcd://127.0.0.1:1', 'x', 'plain')).stderr).toContain('--store must be a database');
  });
});

await describeWith(['mariadb'], 'seq adopt in MariaDB', () => {
  let server: StoreServer;
  let pool: Pool;
  beforeAll(async () => {
    server = await shared('mariadb');
    pool = createPool(server.url);
  });
  afterAll(async () => {
    await pool?.end();
    await server?.stop();
  });

  it('refuses while AUTO_INCREMENT writes, then passes it and every id of an open transaction', async () => {
    await pool.query('CREATE TABLE orders (id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, note TEXT)');
    await pool.query("INSERT INTO orders (note) VALUES ('a'), ('b'), ('c')");
    await pool.query('DELETE FROM orders WHERE id = 3');
    const refused = await adopt(server.url, 'orders', 'orders');
    expect(refused.status).toBe(1);
    expect(refused.stdout).toContain('AUTO_INCREMENT of `orders`.`id`: up to 3');
    const [end] = waysIn(refused.stderr);
    expect(end).toBe('ALTER TABLE `orders` MODIFY `id` int(10) unsigned NOT NULL');
    await pool.query(end!);
    const connection = await pool.getConnection();
    await connection.beginTransaction();
    await connection.query('INSERT INTO orders VALUES (5000, NULL)');
    const adopting = adopt(server.url, 'orders', 'orders', '--block-size', '7');
    await expect.poll(() => nextOf(server.url, 'orders').catch(() => 0n)).toBeGreaterThan(0n);
    await connection.commit();
    connection.release();
    expect((await adopting).status).toBe(0);
    expect(await nextOf(server.url, 'orders')).toBe(5001n);
    const insert = (id: bigint) => pool.query('INSERT INTO orders VALUES (?, NULL)', [String(id)]);
    await Promise.all([
      writeIds(server.url, 'orders', insert, 50),
      writeIds(server.url, 'orders', insert, 50),
    ]);
  });

  it('goes past a sequence of MariaDB that is held, as a default or by name', async () => {
    await pool.query('CREATE SEQUENCE claims_seq INCREMENT BY 50 CACHE 2');
    await pool.query(
      'CREATE TABLE claims (id BIGINT NOT NULL DEFAULT NEXT VALUE FOR claims_seq PRIMARY KEY)',
    );
    await pool.query('INSERT INTO claims VALUES (DEFAULT)');
    const refused = await adopt(server.url, 'claims', 'claims');
    expect(refused.status).toBe(1);
    const hold = waysIn(refused.stderr).find((way) => way.startsWith('ALTER SEQUENCE'))!;
    await pool.query(hold);
    const held = BigInt(/MAXVALUE (\d+)/.exec(hold)![1]!);
    expect((await adopt(server.url, 'claims', 'claims', '--native', 'claims_seq')).status).toBe(0);
    expect(await nextOf(server.url, 'claims')).toBe(held + 50n);
    await pool.query('INSERT INTO claims VALUES (DEFAULT)');
  });
});

describe('seq adopt in SQLite', () => {
  it('needs to be told that programs give their ids, and passes deleted rows, too', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'idsmith-adopt-'));
    const file = join(folder, 'shop.db');
    const db = new Database(file);
    db.exec('CREATE TABLE orders (id INTEGER PRIMARY KEY AUTOINCREMENT, note TEXT)');
    db.exec("INSERT INTO orders (note) VALUES ('a'), ('b'), ('c')");
    db.exec('DELETE FROM orders WHERE id = 3');
    const refused = await adopt(`sqlite:${file}`, 'orders', 'orders');
    expect(refused.status).toBe(1);
    expect(refused.stderr).toContain('--all-give-ids');
    expect(db.prepare("SELECT name FROM sqlite_master WHERE name = 'id_sequences'").all()).toEqual([]);
    const flags = ['--table', 'orders', '--column', 'id', '--all-give-ids', '--store', `sqlite:${file}`];
    const { status, stdout } = await idsmith('seq', 'adopt', 'orders', ...flags);
    expect(status).toBe(0);
    expect(stdout).toContain('next 4');
    expect(await nextOf(`sqlite:${file}`, 'orders')).toBe(4n);
    db.close();
    rmSync(folder, { recursive: true, force: true });
  });
});
