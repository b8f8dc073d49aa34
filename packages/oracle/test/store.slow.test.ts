import { InvalidOptionError, type Store } from 'idsmith';
import { connect } from 'idsmith/connect';
import { leaseStoreCases, sequenceStoreCases } from 'idsmith/testing';
import { createConnection } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeAt, describeWith, type ServerProcess, startMariadb } from '#services';
import { expectNoGap, repeatedly } from '../../idsmith/test/stores/support/shared-database.ts';
import type { OracleStorePool } from '../src/client.ts';
import { oracleStore } from '../src/store.ts';
import { oracleModePool } from './support/oracle-mode.ts';

/** A database, as these cases use it. */
interface Subject {
  readonly pool: OracleStorePool;
  /** Runs statements of another program, each committed. */
  sql(...statements: string[]): Promise<void>;
}

function cases(subject: () => Subject): void {
  let store: Store;
  beforeAll(() => {
    store = oracleStore(subject().pool);
  });

  for (const { name, run } of leaseStoreCases(() => store)) it(name, run);
  for (const { name, run } of sequenceStoreCases(() => store)) it(name, run);

  it('gives every block once to twenty clients, in the order of their turns', async () => {
    const name = `many ${crypto.randomUUID()}`;
    await store.defineSequence({ name, blockSize: 10 });
    const clients = Array.from({ length: 20 }, () => oracleStore(subject().pool));
    const blocks = await Promise.all(clients.map((each) => repeatedly(10, () => each.allocate(name, 1))));
    expectNoGap(blocks.flat());
  });

  it('marks the version of its schema, and refuses one that needs a later library', async () => {
    await store.listLeases('x');
    expect(await store.schemaVersion?.()).toEqual({ version: 1, leastReader: 1 });
    await subject().sql('UPDATE idsmith_schema SET version = 9, least_reader = 8');
    const older = oracleStore(subject().pool);
    await expect(older.listSequences()).rejects.toThrow(/schema version 9 .* knows version 8/);
    await subject().sql('UPDATE idsmith_schema SET least_reader = 1');
    expect(await older.schemaVersion?.()).toEqual({ version: 9, leastReader: 1 });
    await subject().sql('UPDATE idsmith_schema SET version = 1');
  });

  it('shares a row with a program that knows four columns', async () => {
    const name = `upstream_${crypto.randomUUID().slice(0, 8)}`;
    await store.listSequences();
    await subject().sql(`INSERT INTO id_sequences VALUES ('${name}', 1, 20, 0)`);
    expect(await store.allocate(name, 1)).toMatchObject({ first: 1n, count: 20 });
    await subject().sql(
      `UPDATE id_sequences SET next_block_start = next_block_start + block_size WHERE name = '${name}'`,
    );
    expect(await store.allocate(name, 1)).toMatchObject({ first: 41n, count: 20 });
  });

  it('adopts a table of four columns, made by twenty at once', async () => {
    await subject().sql(
      'DROP TABLE id_sequences',
      `CREATE TABLE id_sequences (name VARCHAR2(255) NOT NULL PRIMARY KEY, next_block_start NUMBER(19) NOT NULL,
        block_size NUMBER(10) NOT NULL, exhausted NUMBER(1) DEFAULT 0 NOT NULL)`,
      `INSERT INTO id_sequences VALUES ('orders', 100, 10, 0)`,
    );
    const clients = Array.from({ length: 20 }, () => oracleStore(subject().pool));
    expectNoGap(await Promise.all(clients.map((each) => each.allocate('orders', 1))), 100n);
    expect(await store.describeSequence('orders')).toMatchObject({ next: 300n, step: 1, cycle: false });
  });

  it('gives up a wait for a lock in time, and has changed nothing', async () => {
    const name = `held ${crypto.randomUUID()}`;
    await store.defineSequence({ name });
    const holder = await subject().pool.getConnection();
    const options = { autoCommit: false, maxRows: 0 };
    await holder.execute('SELECT name FROM id_sequences WHERE name = :1 FOR UPDATE', [name], options);
    const hasty = oracleStore(subject().pool, { timeout: 2000 });
    await expect(hasty.allocate(name, 1)).rejects.toThrow(/oracle store: allocating from sequence "held/);
    await holder.rollback();
    await holder.close();
    expect((await store.allocate(name, 1)).first).toBe(1n);
  });

  it('gives up a block whose commit was not answered, and repeats nothing', async () => {
    const name = `lost ${crypto.randomUUID()}`;
    await store.defineSequence({ name, blockSize: 10 });
    const { pool } = subject();
    const dropped: unknown[] = [];
    let losses = 1;
    const lossy: OracleStorePool = {
      async getConnection() {
        const connection = await pool.getConnection();
        const broken = new Error('NJS-500: connection to the database was broken');
        let isLost = false;
        return {
          execute: (sql, binds, options) => connection.execute(sql, binds, options),
          async commit() {
            await connection.commit();
            isLost = losses-- > 0;
            if (isLost) throw broken;
          },
          rollback: () => (isLost ? Promise.reject(broken) : connection.rollback()),
          close(options) {
            if (isLost) dropped.push(options);
            return connection.close(options);
          },
        };
      },
    };
    const user = oracleStore(lossy);
    await user.listSequences();
    losses = 1;
    await expect(user.allocate(name, 1)).rejects.toThrow(/NJS-500/);
    expect(dropped).toEqual([{ drop: true }]);
    expect((await user.allocate(name, 1)).first).toBe(11n);
  });

  it('serves connect', async () => {
    const ids = await connect(store);
    const orders = await ids.flakes(`orders ${crypto.randomUUID()}`);
    expect(new Set(orders.batch(1000)).size).toBe(1000);
    await ids.close();
  });
}

await describeWith(['mariadb'], 'The store of Oracle, on MariaDB in its Oracle mode', () => {
  let server: ServerProcess;
  let pool: ReturnType<typeof oracleModePool>;

  beforeAll(async () => {
    // Oracle compares names exactly, with their spaces.
    server = await startMariadb({
      args: ['--character-set-server=utf8mb4', '--collation-server=utf8mb4_nopad_bin'],
    });
    pool = oracleModePool(server.url);
  });
  afterAll(async () => {
    await pool?.end();
    await server?.stop();
  });

  async function sql(...statements: string[]): Promise<void> {
    const connection = await createConnection(server.url);
    await connection.query(`SET sql_mode = 'ORACLE,STRICT_ALL_TABLES'`);
    for (const statement of statements) await connection.query(statement);
    await connection.end();
  }

  cases(() => ({ pool, sql }));

  it('reads and writes numbers past 2^53 exactly', async () => {
    const store = oracleStore(pool);
    const name = `large ${crypto.randomUUID()}`;
    await store.defineSequence({ name, start: 2n ** 53n + 1n, blockSize: 3 });
    expect((await store.allocate(name, 1)).first).toBe(2n ** 53n + 1n);
    expect((await store.allocate(name, 1)).first).toBe(2n ** 53n + 4n);
  });
});

const TABLES = ['idsmith_leases', 'id_sequences', 'idsmith_schema'];

// The user of ORACLE_URL needs CREATE TABLE and a quota. The tables must not exist: the tests make and drop them, and touch nothing if
// somebody else has them.
describeAt('ORACLE_URL', 'The store of Oracle', (url) => {
  let pool: import('oracledb').Pool;
  let isOurs = false;

  async function sql(...statements: string[]): Promise<void> {
    const connection = await pool.getConnection();
    for (const statement of statements) await connection.execute(statement, [], { autoCommit: true });
    await connection.close();
  }

  beforeAll(async () => {
    const { default: oracledb } = await import('oracledb');
    const { username, password, host, pathname } = new URL(url);
    pool = await oracledb.createPool({
      user: decodeURIComponent(username),
      password: decodeURIComponent(password),
      connectString: `${host}${pathname}`,
      poolMax: 30,
    });
    for (const table of TABLES) await sql(`CREATE TABLE ${table} (x NUMBER(1))`, `DROP TABLE ${table}`);
    isOurs = true;
  });
  afterAll(async () => {
    if (isOurs) await sql(...TABLES.map((table) => `DROP TABLE ${table}`));
    await pool?.close();
  });

  cases(() => ({ pool, sql }));
});

describe('The store of Oracle', () => {
  it('takes a pool and nothing else', () => {
    expect(() => oracleStore({ execute() {} } as never)).toThrow(InvalidOptionError);
    expect(() => oracleStore({ execute() {} } as never)).toThrow(
      'pool must be a Pool of the package oracledb',
    );
    expect(() => oracleStore({ getConnection() {} } as never, { timeot: 1 } as never)).toThrow('timeout');
  });
});
