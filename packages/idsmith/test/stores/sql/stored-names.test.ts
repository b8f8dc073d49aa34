import { Sequences } from 'idsmith';
import { createPool } from 'mysql2/promise';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith, type StoreServer, shared } from '#services';
import { mysqlStore } from '../../../src/stores/mysql/store.ts';
import { postgresStore } from '../../../src/stores/postgres/store.ts';
import type { Store } from '../../../src/stores/store.ts';

/** A store on a table of another program, the number of its statements, and a way to run SQL. */
interface Subject {
  readonly store: Store;
  statements(): number;
}

/** Rows whose stored name is not the text that is asked for. */
function cases(rows: readonly (readonly [asked: string, what: string])[], subject: () => Subject): void {
  it.each(rows)('%j: %s, is used with one statement for an allocation', async (asked) => {
    const { store, statements } = subject();
    const sequences = new Sequences(store);
    const sequence = await sequences.get(asked, { prefetch: 0 });
    expect(await sequence.batch(20)).toHaveLength(20);
    const before = statements();
    const ids = await sequence.batch(20 * 10);
    expect(statements() - before).toBe(10);
    expect(ids[0]).toBe(21n);
    expect((await sequences.describe(asked)).next).toBe(221n);
    await sequences.alter(asked, { blockSize: 10 });
    expect((await store.allocate(asked, 1)).count).toBe(10);
    const altered = statements();
    const tail = await store.allocate(asked, 1);
    expect(statements() - altered).toBe(1);
    expect(await store.giveBack?.(asked, tail)).toBe(true);
    await sequences.remove(asked);
    await expect(sequences.describe(asked)).rejects.toThrow(/no sequence|name of a sequence/);
  });
}

const columns = 'next_block_start BIGINT NOT NULL, block_size INT NOT NULL, exhausted INT DEFAULT 0';

await describeWith(['postgres'], 'names stored by others in PostgreSQL', () => {
  let server: StoreServer;
  let pool: Pool;
  let subject: Subject;
  beforeAll(async () => {
    server = await shared('postgres');
    pool = new Pool({ connectionString: server.url });
    await pool.query(`CREATE TABLE id_sequences (name CHAR(64) PRIMARY KEY, ${columns})`);
    await pool.query(`INSERT INTO id_sequences VALUES ('padded', 1, 20, 0), ('o''brien', 1, 20, 0)`);
    let statements = 0;
    const query = (text: string, values: unknown[]) => {
      statements++;
      return pool.query(text, values);
    };
    subject = { store: postgresStore({ query }), statements: () => statements };
  });
  afterAll(async () => {
    await pool?.end();
    await server?.stop();
  });
  describe('in CHAR(64)', () => {
    cases(
      [
        ['padded', 'padded with spaces'],
        ["o'brien", 'with a quote'],
      ],
      () => subject,
    );
  });
});

await describeWith(['mariadb'], 'names stored by others in MariaDB', () => {
  let server: StoreServer;
  let pool: ReturnType<typeof createPool>;
  let subject: Subject;
  beforeAll(async () => {
    server = await shared('mariadb');
    pool = createPool({ uri: server.url });
    await pool.query(
      `CREATE TABLE id_sequences (name VARCHAR(64) PRIMARY KEY, ${columns}) CHARACTER SET latin1 COLLATE latin1_swedish_ci`,
    );
    await pool.query(
      `INSERT INTO id_sequences VALUES ('Upper', 1, 20, 0), ('spaces   ', 1, 20, 0), ('o''brien', 1, 20, 0)`,
    );
    let statements = 0;
    const query = (sql: string, values: unknown[]) => {
      statements++;
      return pool.query(sql, values);
    };
    subject = { store: mysqlStore({ query }), statements: () => statements };
  });
  afterAll(async () => {
    await pool?.end();
    await server?.stop();
  });
  describe('in a collation that ignores case', () => {
    cases(
      [
        ['upper', 'stored as "Upper"'],
        ['spaces', 'stored with spaces at the end'],
        ["o'brien", 'with a quote'],
      ],
      () => subject,
    );
  });
});
