import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  gapless,
  InvalidOptionError,
  NoSuchSequenceError,
  SequenceExhaustedError,
  StoreError,
} from 'idsmith';
import type { SqlAdapter } from 'idsmith/sql';
import Database from 'libsql';
import { createPool, type Pool } from 'mysql2/promise';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith, type StoreServer, shared } from '#services';
import { mysqlStore } from '../../src/stores/mysql/store.ts';
import { postgresStore } from '../../src/stores/postgres/store.ts';
import type { GaplessTransaction } from '../../src/stores/sql/gapless.ts';
import { sqliteStore } from '../../src/stores/sqlite/store.ts';
import type { Store } from '../../src/stores/store.ts';

/** A database as these tests use it. */
interface Subject {
  store: Store;
  /** A connection of its own, with a transaction open. */
  begin(): Promise<{
    transaction: GaplessTransaction;
    insert(number: bigint): Promise<unknown>;
    commit(): Promise<unknown>;
    rollback(): Promise<unknown>;
  }>;
  /** A connection without a transaction. */
  idle(): Promise<GaplessTransaction>;
  /** What the table of invoices has. */
  invoices(): Promise<bigint[]>;
  end(): Promise<void>;
}

function cases(start: () => Promise<Subject>, { waits = true } = {}): void {
  let db: Subject;
  beforeAll(async () => {
    db = await start();
  });
  afterAll(() => db?.end());

  const defined = async (options = {}) => {
    const name = `invoices ${crypto.randomUUID()}`;
    await db.store.defineSequence({ name, ...options });
    return name;
  };
  const takeOne = async (name: string) => {
    const { transaction, commit } = await db.begin();
    const number = await gapless(name, transaction);
    await commit();
    return number;
  };

  it('a number that is rolled back comes again', async () => {
    const name = await defined();
    expect(await takeOne(name)).toBe(1n);
    const { transaction, rollback } = await db.begin();
    expect([await gapless(name, transaction), await gapless(name, transaction)]).toEqual([2n, 3n]);
    await rollback();
    expect(await takeOne(name)).toBe(2n);
  });

  it('several calls at once on one connection take numbers one after the other', async () => {
    const [name, other] = [await defined(), await defined({ start: 7 })];
    const { transaction, commit } = await db.begin();
    const calls = Array.from({ length: 5 }, () => gapless(name, transaction));
    expect(await Promise.all([...calls, gapless(other, transaction)])).toEqual([1n, 2n, 3n, 4n, 5n, 7n]);
    await commit();
    expect(await takeOne(name)).toBe(6n);
  });

  it('a call that fails does not keep the next one on its connection from its number', async () => {
    const name = await defined();
    const { transaction, commit } = await db.begin();
    const outcomes = await Promise.allSettled([
      gapless('not defined', transaction),
      gapless(name, transaction),
    ]);
    expect(outcomes).toMatchObject([{ status: 'rejected' }, { status: 'fulfilled', value: 1n }]);
    await commit();
  });

  it('goes on where blocks have been taken, and the other way round', async () => {
    const name = await defined();
    await db.store.allocate(name, 1);
    expect(await takeOne(name)).toBe(21n);
    expect((await db.store.allocate(name, 1)).first).toBe(22n);
  });

  it('steps, descends and ends as the sequence is defined', async () => {
    const name = await defined({ start: 5, step: -3, min: 2 });
    expect([await takeOne(name), await takeOne(name)]).toEqual([5n, 2n]);
    const { transaction, rollback } = await db.begin();
    await expect(gapless(name, transaction)).rejects.toThrow(SequenceExhaustedError);
    await rollback();
  });

  it('is exact up to 2^63 − 1', async () => {
    const name = await defined({ start: 2n ** 63n - 2n });
    expect([await takeOne(name), await takeOne(name)]).toEqual([2n ** 63n - 2n, 2n ** 63n - 1n]);
  });

  it('refuses a connection without a transaction, and takes nothing', async () => {
    const name = await defined();
    await expect(gapless(name, await db.idle())).rejects.toThrow('transaction must be open');
    expect((await db.store.describeSequence(name)).next).toBe(1n);
  });

  it('refuses names that are none, or not defined, and leaves the transaction usable', async () => {
    const { transaction, commit } = await db.begin();
    await expect(gapless('', transaction)).rejects.toThrow(InvalidOptionError);
    await expect(gapless('nothing', transaction)).rejects.toThrow(NoSuchSequenceError);
    await commit();
  });

  const itWaits = waits ? it : () => {};
  itWaits('two transactions wait for each other', async () => {
    const name = await defined();
    const [first, second] = [await db.begin(), await db.begin()];
    expect(await gapless(name, first.transaction)).toBe(1n);
    let came: bigint | undefined;
    const waiting = gapless(name, second.transaction).then((number) => {
      came = number;
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(came).toBeUndefined();
    await first.rollback();
    await waiting;
    expect(came).toBe(1n);
    await second.commit();
  });

  it('hundreds of concurrent invoices, some of them rolled back, have no hole', async () => {
    const name = await defined();
    const outcomes = await Promise.all(
      Array.from({ length: 280 }, async (_, i) => {
        const { transaction, insert, commit, rollback } = await db.begin();
        const number = await gapless(name, transaction);
        await insert(number);
        if (i % 7 === 0) return rollback();
        await commit();
        return number;
      }),
    );
    const kept = outcomes.filter((number) => typeof number === 'bigint') as bigint[];
    const expected = Array.from({ length: kept.length }, (_, i) => BigInt(i + 1));
    expect(kept.length).toBe(240);
    expect(kept.sort((a, b) => Number(a - b))).toEqual(expected);
    expect(await db.invoices()).toEqual(expected);
  });
}

it.each([[undefined], [{}], [{ query() {}, getConnection() {} }], [{ query() {}, totalCount: 3 }]])(
  'a pool or nothing is refused',
  async (transaction) => {
    await expect(gapless('x', transaction as never)).rejects.toThrow(InvalidOptionError);
  },
);

await describeWith(['postgres'], 'gapless numbers in PostgreSQL', () => {
  let server: StoreServer;
  afterAll(() => server?.stop());
  cases(async () => {
    server = await shared('postgres');
    const pool = new pg.Pool({ connectionString: server.url, max: 20 });
    // A connection that is being ended when the server stops has nobody else to tell.
    pool.on('connect', (client) => client.on('error', () => {}));
    pool.on('error', () => {});
    await pool.query('CREATE TABLE invoices (number bigint PRIMARY KEY)');
    const idle = new pg.Client({ connectionString: server.url });
    idle.on('error', () => {});
    await idle.connect();
    return {
      store: postgresStore(pool),
      idle: async () => idle,
      async begin() {
        const client = await pool.connect();
        await client.query('BEGIN');
        const end = (sql: string) => client.query(sql).finally(() => client.release());
        return {
          transaction: client,
          insert: (number) => client.query('INSERT INTO invoices VALUES ($1)', [number]),
          commit: () => end('COMMIT'),
          rollback: () => end('ROLLBACK').then(() => undefined),
        };
      },
      invoices: async () =>
        (await pool.query('SELECT number::text FROM invoices ORDER BY invoices.number')).rows.map((row) =>
          BigInt(row.number),
        ),
      end: async () => {
        await Promise.all([idle.end(), pool.end()]);
      },
    };
  });
});

await describeWith(['mariadb'], 'gapless numbers in MariaDB', () => {
  let server: StoreServer;
  afterAll(() => server?.stop());
  cases(async () => {
    server = await shared('mariadb');
    const pool = createPool({ uri: server.url, connectionLimit: 20 });
    await pool.query('CREATE TABLE invoices (number BIGINT PRIMARY KEY)');
    const idle = await pool.getConnection();
    return {
      store: mysqlStore(pool),
      idle: async () => idle,
      async begin() {
        const connection = await pool.getConnection();
        await connection.beginTransaction();
        // As a transaction that has looked at something before: it has its own view of the past.
        await connection.query('SELECT COUNT(*) FROM invoices');
        return {
          transaction: connection,
          insert: (number) => connection.query('INSERT INTO invoices VALUES (?)', [String(number)]),
          commit: () => connection.commit().finally(() => connection.release()),
          rollback: () => connection.rollback().finally(() => connection.release()),
        };
      },
      invoices: async () => {
        const [rows] = await pool.query('SELECT CAST(number AS CHAR) AS n FROM invoices ORDER BY number');
        return (rows as { n: string }[]).map(({ n }) => BigInt(n));
      },
      end: async () => {
        idle.release();
        await pool.end();
      },
    };
  });
});

await describeWith(['mariadb'], 'gapless numbers on a connection of MariaDB', () => {
  let server: StoreServer;
  let pool: Pool;
  beforeAll(async () => {
    server = await shared('mariadb');
    pool = createPool({ uri: server.url });
  });
  afterAll(async () => {
    await pool?.end();
    await server?.stop();
  });

  it('leave a savepoint of the user, whatever its name', async () => {
    const store = mysqlStore(pool);
    await store.defineSequence({ name: 'saved' });
    const connection = await pool.getConnection();
    await connection.beginTransaction();
    await connection.query('SAVEPOINT idsmith_gapless');
    expect(await gapless('saved', connection)).toBe(1n);
    await connection.query('ROLLBACK TO SAVEPOINT idsmith_gapless');
    expect(await gapless('saved', connection)).toBe(1n);
    await connection.commit();
    connection.release();
  });

  it('need no server that tells of its transactions', async () => {
    await mysqlStore(pool).defineSequence({ name: 'silent' });
    const connection = await pool.getConnection();
    // MySQL skips these comments.
    const asMysql: SqlAdapter = {
      dialect: 'mysql',
      query: async (text, values) => {
        const [rows] = await connection.query(text.replaceAll(/\/\*M!.*?\*\//g, ''), [...values]);
        return Array.isArray(rows) ? rows : [];
      },
    };
    await expect(gapless('silent', asMysql)).rejects.toThrow('transaction must be open');
    await connection.beginTransaction();
    await connection.query('SAVEPOINT before_it');
    expect(await gapless('silent', asMysql)).toBe(1n);
    await connection.query('ROLLBACK TO SAVEPOINT before_it');
    expect(await gapless('silent', asMysql)).toBe(1n);
    await connection.commit();
    connection.release();
    expect((await mysqlStore(pool).describeSequence('silent')).next).toBe(2n);
  });

  it.each(['MyISAM', 'Aria'])(
    'are not given on the engine %s, where a rollback leaves a gap',
    async (engine) => {
      // A process looks once at the table of a database.
      const own = await shared('mariadb');
      const pool = createPool({ uri: own.url });
      const store = mysqlStore(pool);
      await pool.query(`CREATE TABLE id_sequences (name VARCHAR(100) NOT NULL PRIMARY KEY, next_block_start BIGINT NOT NULL,
        block_size INT NOT NULL, exhausted INT DEFAULT 0) ENGINE = ${engine}`);
      await store.defineSequence({ name: engine });
      const connection = await pool.getConnection();
      await connection.beginTransaction();
      const failure = await gapless(engine, connection).catch((error) => error);
      expect(failure).toBeInstanceOf(InvalidOptionError);
      expect(failure.message).toContain(`the storage engine ${engine}`);
      expect((await store.describeSequence(engine)).next).toBe(1n);
      await connection.rollback();
      await pool.query(/ALTER TABLE.*$/.exec(failure.message)![0]);
      await connection.beginTransaction();
      expect(await gapless(engine, connection)).toBe(1n);
      await connection.rollback();
      connection.release();
      expect((await store.describeSequence(engine)).next).toBe(1n);
      await pool.end();
      await own.stop();
    },
  );

  it('leave what it has inserted last', async () => {
    await mysqlStore(pool).defineSequence({ name: 'invoices' });
    await pool.query('CREATE TABLE things (id INT AUTO_INCREMENT PRIMARY KEY) AUTO_INCREMENT = 4711');
    const connection = await pool.getConnection();
    await connection.beginTransaction();
    await connection.query('INSERT INTO things VALUES ()');
    await gapless('invoices', connection);
    const [rows] = await connection.query('SELECT LAST_INSERT_ID() AS id');
    expect(rows).toEqual([{ id: 4711 }]);
    await connection.rollback();
    connection.release();
  });
});

describe('gapless numbers in SQLite', () => {
  // SQLite does not let the thread go while it waits for a lock, so here the transactions take turns.
  cases(
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'idsmith-gapless-'));
      const open = () => new Database(join(folder, 'ids.db'));
      const [admin, idle] = [open(), open()];
      admin.exec('PRAGMA journal_mode = WAL');
      admin.exec('CREATE TABLE invoices (number INTEGER PRIMARY KEY)');
      let turn: Promise<unknown> = Promise.resolve();
      return {
        store: sqliteStore(admin),
        idle: async () => idle,
        async begin() {
          const before = turn;
          let done = () => {};
          turn = new Promise<void>((resolve) => {
            done = resolve;
          });
          await before;
          const db = open();
          db.exec('BEGIN');
          db.prepare('SELECT COUNT(*) FROM invoices').all();
          const end = async (sql: string) => {
            db.exec(sql);
            db.close();
            done();
          };
          return {
            transaction: db,
            insert: async (number) => db.prepare('INSERT INTO invoices VALUES (?)').run(number),
            commit: () => end('COMMIT'),
            rollback: () => end('ROLLBACK'),
          };
        },
        invoices: async () =>
          admin
            .prepare('SELECT CAST(number AS TEXT) AS n FROM invoices ORDER BY number')
            .all()
            .map((row) => BigInt((row as { n: string }).n)),
        end: async () => {
          for (const db of [admin, idle]) db.close();
          rmSync(folder, { recursive: true });
        },
      };
    },
    { waits: false },
  );

  it('two transactions on one file wait for each other: the second is refused while the first is open', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'idsmith-gapless-'));
    const [one, two] = [new Database(join(folder, 'ids.db')), new Database(join(folder, 'ids.db'))];
    await sqliteStore(one).defineSequence({ name: 'invoices' });
    two.exec('PRAGMA busy_timeout = 10');
    one.exec('BEGIN');
    expect(await gapless('invoices', one)).toBe(1n);
    two.exec('BEGIN');
    await expect(gapless('invoices', two)).rejects.toThrow(StoreError);
    two.exec('ROLLBACK');
    one.exec('ROLLBACK');
    two.exec('BEGIN');
    expect(await gapless('invoices', two)).toBe(1n);
    two.exec('COMMIT');
    for (const db of [one, two]) db.close();
    rmSync(folder, { recursive: true });
  });
});
