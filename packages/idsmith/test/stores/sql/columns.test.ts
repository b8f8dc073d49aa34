import { type Block, gapless, StoreError } from 'idsmith';
import { createPool, type Pool as MysqlPool } from 'mysql2/promise';
import { Pool } from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeWith, type ServerProcess, type StoreServer, shared, startMariadb } from '#services';
import { mysqlStore } from '../../../src/stores/mysql/store.ts';
import { postgresStore } from '../../../src/stores/postgres/store.ts';
import { rangeOfType } from '../../../src/stores/sql/columns.ts';
import type { Store } from '../../../src/stores/store.ts';
import { idsOf } from '../support/shared-database.ts';

describe('the range of a column', () => {
  const symmetric = (high: bigint) => ({ low: -high, high });
  it.each([
    ['tinyint(4)', { low: -128n, high: 127n }],
    ['smallint', { low: -32768n, high: 32767n }],
    ['mediumint(8) unsigned', { low: 0n, high: 16777215n }],
    ['int(11)', { low: -(2n ** 31n), high: 2n ** 31n - 1n }],
    ['INTEGER', { low: -(2n ** 31n), high: 2n ** 31n - 1n }],
    ['int(10) unsigned zerofill', { low: 0n, high: 2n ** 32n - 1n }],
    ['bigint(20)', { low: -(2n ** 63n), high: 2n ** 63n - 1n }],
    ['bigint unsigned', { low: 0n, high: 2n ** 64n - 1n }],
    ['decimal(12,0)', symmetric(10n ** 12n - 1n)],
    ['numeric(10)', symmetric(10n ** 10n - 1n)],
    ['decimal(5,0) unsigned', { low: 0n, high: 99999n }],
    ['numeric', undefined],
    ['a_domain', undefined],
    ['numeric(20,2)', 'inexact'],
    ['numeric(5,-2)', 'inexact'],
    ['double precision', 'inexact'],
    ['float', 'inexact'],
    ['character varying(20)', 'inexact'],
    ['text', 'inexact'],
  ])('%s is known', (type, range) => {
    expect(rangeOfType(type)).toEqual(range);
  });
});

/** A database with a table of another program, in a mode in which it says nothing of what it cuts off. */
interface Subject {
  sql(text: string): Promise<unknown>;
  store(): Store;
  /** The word of the `ALTER TABLE` that makes a column wider. */
  readonly alter: string;
}

interface Types {
  name?: string;
  next?: string;
  size?: string;
}

function cases(subject: () => Subject): void {
  const table = ({ name = 'VARCHAR(255)', next = 'BIGINT', size = 'INT' }: Types) =>
    subject().sql(`CREATE TABLE id_sequences (name ${name} NOT NULL PRIMARY KEY, next_block_start ${next} NOT NULL,
      block_size ${size} NOT NULL, exhausted INT DEFAULT 0)`);
  const insert = (name: string, next: bigint | number, size: number) =>
    subject().sql(
      `INSERT INTO id_sequences (name, next_block_start, block_size) VALUES ('${name}', ${next}, ${size})`,
    );

  beforeEach(() => subject().sql('DROP TABLE IF EXISTS id_sequences, idsmith_pasts'));

  /** Allocates until that fails; what it was given, and the failure. */
  async function drained(store: Store, name: string, times: number): Promise<[Block[], Error]> {
    const blocks: Block[] = [];
    try {
      for (let i = 0; i < times; i++) blocks.push(await store.allocate(name, 1));
    } catch (error) {
      return [blocks, error as Error];
    }
    return [blocks, new Error('it did not fail')];
  }

  it.each(['TIMESTAMP NULL', 'VARCHAR(20)', 'DOUBLE PRECISION'])(
    'of %s that another program has added is none of ours',
    async (type) => {
      await subject().store().defineSequence({ name: 'orders' });
      await subject().sql(`ALTER TABLE id_sequences ADD COLUMN note ${type}`);
      expect(await subject().store().allocate('orders', 1)).toMatchObject({ first: 1n });
    },
  );

  it.each(['INT', 'DECIMAL(10, 0)', 'SMALLINT'])(
    'of %s cannot hold a sequence without limits, which takes no id from it',
    async (next) => {
      await table({ next });
      await insert('orders', 32_700, 20);
      const store = subject().store();
      const [blocks, failure] = await drained(store, 'orders', 4);
      expect(blocks).toEqual([]);
      expect(failure).toBeInstanceOf(StoreError);
      expect(failure.message).toMatch(
        /^sequence "orders": the column next_block_start of id_sequences, which is /,
      );
      await expect(store.defineSequence({ name: 'new' })).rejects.toThrow(/ALTER TABLE/);
      expect(await store.describeSequence('orders')).toMatchObject({ next: 32_700n });
      const [statement] = /ALTER TABLE [^,]*/.exec(failure.message) ?? [];
      expect(statement).toContain(subject().alter);
      await subject().sql(statement!);
      const [more] = await drained(subject().store(), 'orders', 4);
      expect(more.flatMap(idsOf)).toEqual(Array.from({ length: 80 }, (_, i) => 32_700n + BigInt(i)));
    },
  );

  it.each([
    ['INT', 2n ** 31n - 1n],
    ['DECIMAL(10, 0)', 10n ** 10n - 1n],
    ['SMALLINT', 32767n],
  ])('of %s serves a sequence whose limit it holds, to the last id', async (next, highest) => {
    await table({ next });
    await insert('orders', highest - 40n, 20);
    const store = subject().store();
    await store.alterSequence('orders', { max: highest - 1n });
    const [blocks, failure] = await drained(store, 'orders', 3);
    expect(blocks.flatMap(idsOf)).toEqual(Array.from({ length: 40 }, (_, i) => highest - 40n + BigInt(i)));
    expect(failure).toMatchObject({ code: 'SEQUENCE_EXHAUSTED' });
  });

  it.each(['DECIMAL(12, 0)', 'DECIMAL(15, 0)'])(
    'of %s is used as far as it reaches, and never beyond',
    async (next) => {
      const highest = 10n ** BigInt(/\d+/.exec(next)![0]) - 1n;
      await table({ next });
      await insert('orders', highest - 50n, 20);
      const [blocks, failure] = await drained(subject().store(), 'orders', 4);
      expect(blocks.flatMap(idsOf)).toEqual(Array.from({ length: 40 }, (_, i) => highest - 50n + BigInt(i)));
      expect(failure).toBeInstanceOf(StoreError);
      const [statement] = /ALTER TABLE .*$/.exec(failure.message) ?? [];
      await subject().sql(statement!);
      const [more] = await drained(subject().store(), 'orders', 2);
      expect(more.flatMap(idsOf)[0]).toBe(highest - 10n);
      expect(more.flatMap(idsOf)).toHaveLength(40);
    },
  );

  it.each(['DECIMAL(12, 0)', 'NUMERIC(19)', 'BIGINT'])('of %s takes part in everything', async (next) => {
    await table({ next });
    await insert('orders', 1, 10);
    const store = subject().store();
    expect((await store.allocate('orders', 2)).first).toBe(1n);
    expect(await store.alterSequence('orders', { next: 101 })).toMatchObject({ next: 101n });
    expect((await store.allocate('orders', 1)).first).toBe(101n);
    await store.defineSequence({ name: 'down', start: 100, step: -1, min: 1, blockSize: 50 });
    expect((await store.allocate('down', 2)).count).toBe(100);
    await expect(store.allocate('down', 1)).rejects.toMatchObject({ code: 'SEQUENCE_EXHAUSTED' });
  });

  it('is not told to hold a start, a block size or a name that it cannot', async () => {
    await table({ name: 'VARCHAR(10)', next: 'DECIMAL(12, 0)', size: 'SMALLINT' });
    const store = subject().store();
    const refused = async (definition: object, column: string) => {
      const failure = await store.defineSequence({ name: 'x', ...definition }).catch((error) => error);
      expect(failure).toBeInstanceOf(StoreError);
      expect(failure.message).toContain(`the column ${column} of id_sequences, which is `);
      expect(failure.message).toMatch(/ALTER TABLE id_sequences /);
      expect(await store.listSequences()).toEqual([]);
    };
    await refused({ start: 10n ** 12n }, 'next_block_start');
    await refused({ blockSize: 40_000 }, 'block_size');
    await refused({ name: 'eleven long' }, 'name');
    await store.defineSequence({ name: 'ten chars!', blockSize: 32_767 });
    await expect(store.alterSequence('ten chars!', { blockSize: 32_768 })).rejects.toThrow(
      'the column block_size',
    );
    await expect(store.alterSequence('ten chars!', { next: 10n ** 12n })).rejects.toThrow(
      'the column next_block_start',
    );
    expect(await store.describeSequence('ten chars!')).toMatchObject({ next: 1n, blockSize: 32_767 });
  });

  it.each(['DECIMAL(20, 2)', 'DOUBLE PRECISION', 'VARCHAR(20)'])('of %s is refused at once', async (next) => {
    await table({ next });
    await insert('orders', 1, 20);
    const store = subject().store();
    for (const call of [() => store.allocate('orders', 1), () => store.listSequences()]) {
      const failure = await call().catch((error) => error);
      expect(failure).toBeInstanceOf(StoreError);
      expect(failure.message).toMatch(
        /next_block_start of id_sequences is .*whole numbers exactly: run ALTER TABLE/,
      );
    }
  });
}

await describeWith(['mariadb'], 'an adopted column of MariaDB that says nothing of what it cuts off', () => {
  let server: ServerProcess;
  let pool: MysqlPool;
  beforeAll(async () => {
    server = await startMariadb({ args: ['--sql-mode='] });
    pool = createPool({ uri: server.url });
  });
  afterAll(async () => {
    await pool?.end();
    await server?.stop();
  });

  cases(() => ({
    sql: (text) => pool.query(text),
    store: () => mysqlStore(pool),
    alter: 'MODIFY next_block_start BIGINT',
  }));

  it.each(['INT UNSIGNED', 'INT ZEROFILL', 'BIGINT UNSIGNED'])('of %s holds no negative id', async (next) => {
    await pool.query(`CREATE TABLE id_sequences (name VARCHAR(255) NOT NULL PRIMARY KEY,
      next_block_start ${next} NOT NULL, block_size ${next} NOT NULL, exhausted INT DEFAULT 0)`);
    await pool.query(`INSERT INTO id_sequences VALUES ('orders', 5, 10, 0)`);
    const store = mysqlStore(pool);
    await store.alterSequence('orders', { max: 1000 });
    expect(await store.allocate('orders', 1)).toMatchObject({ first: 5n, count: 10 });
    expect((await store.allocate('orders', 1)).first).toBe(15n);
    await expect(store.defineSequence({ name: 'below', start: -1, max: 9 })).rejects.toThrow(
      'the column next_block_start',
    );
    await expect(store.defineSequence({ name: 'down', start: 9, step: -1, min: 1 })).rejects.toThrow(
      'the column block_size',
    );
  });

  it('gives no gapless number that it cannot hold', async () => {
    await pool.query(`CREATE TABLE id_sequences (name VARCHAR(255) NOT NULL PRIMARY KEY,
      next_block_start TINYINT NOT NULL, block_size INT NOT NULL, exhausted INT DEFAULT 0)`);
    await pool.query(`INSERT INTO id_sequences VALUES ('invoices', 126, 10, 0)`);
    const store = mysqlStore(pool);
    await store.listSequences();
    const connection = await pool.getConnection();
    await connection.beginTransaction();
    await expect(gapless('invoices', connection)).rejects.toThrow(
      /next_block_start of id_sequences, which is tinyint/,
    );
    await connection.rollback();
    await store.alterSequence('invoices', { max: 126 });
    await connection.beginTransaction();
    expect(await gapless('invoices', connection)).toBe(126n);
    await expect(gapless('invoices', connection)).rejects.toMatchObject({ code: 'SEQUENCE_EXHAUSTED' });
    await connection.rollback();
    connection.release();
  });
});

await describeWith(['postgres'], 'an adopted column of PostgreSQL', () => {
  let server: StoreServer;
  let pool: Pool;
  beforeAll(async () => {
    server = await shared('postgres');
    pool = new Pool({ connectionString: server.url });
    pool.on('error', () => {});
  });
  afterAll(async () => {
    await pool?.end();
    await server?.stop();
  });

  cases(() => ({
    sql: (text) => pool.query(text),
    store: () => postgresStore(pool),
    alter: 'ALTER COLUMN next_block_start TYPE BIGINT',
  }));

  it('of NUMERIC holds everything', async () => {
    await pool.query(`CREATE TABLE id_sequences (name TEXT PRIMARY KEY, next_block_start NUMERIC NOT NULL,
      block_size NUMERIC NOT NULL, exhausted NUMERIC DEFAULT 0)`);
    const store = postgresStore(pool);
    await store.defineSequence({ name: 'x', start: 2n ** 63n - 10n, blockSize: 5 });
    expect((await store.allocate('x', 1)).first).toBe(2n ** 63n - 10n);
    expect((await store.allocate('x', 1)).first).toBe(2n ** 63n - 5n);
    await expect(store.allocate('x', 1)).rejects.toMatchObject({ code: 'SEQUENCE_EXHAUSTED' });
  });
});
