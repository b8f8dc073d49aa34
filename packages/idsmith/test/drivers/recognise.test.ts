import { InvalidOptionError } from 'idsmith';
import { gapless, type SqlAdapter, sqlExecutor } from 'idsmith/sql';
import Database from 'libsql';
import { createPool as createCallbackPool, createConnection } from 'mysql2';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { sqliteStore } from '../../src/stores/sqlite/store.ts';

const memory = () => new Database(':memory:');

describe('An object that is not known', () => {
  it.each([
    ['nothing', undefined],
    ['null', null],
    ['text', 'postgres://localhost/x'],
    ['an empty object', {}],
    ['an object with a query of which nothing is known', { query: async () => [] }],
    ['a driver with callbacks', { query() {}, beginTransaction() {}, changeUser() {} }],
    ['a function', () => {}],
  ])('is refused: %s', (_name, client) => {
    const failure = thrownBy(() => sqlExecutor(client as object));
    expect(failure).toBeInstanceOf(InvalidOptionError);
    for (const name of ['pg', 'postgres', 'mysql2', 'libsql', 'better-sqlite3', 'node:sqlite', 'bun:sqlite'])
      expect(failure.message).toContain(name);
    for (const name of ['Drizzle', 'Kysely', 'Knex', 'TypeORM', 'Sequelize', 'MikroORM', 'Prisma'])
      expect(failure.message).toContain(name);
  });

  it('becomes known with the adapter that the message shows', async () => {
    const { message } = thrownBy(() => sqlExecutor({}));
    const yours = { query: async (_text: string, values: string[]) => ({ rows: [{ answer: values[0] }] }) };
    const shown = message.slice(message.indexOf('\n'));
    const adapter = new Function('yours', `return (${shown});`)(yours) as SqlAdapter;
    expect(await sqlExecutor(adapter).query('SELECT $1 AS answer', ['42'])).toEqual([{ answer: '42' }]);
  });
});

describe('An adapter of the user', () => {
  it('must name a known dialect', () => {
    const adapter = { dialect: 'oracle', query: async () => [] };
    expect(() => sqlExecutor(adapter)).toThrow(
      'dialect must be "postgres" or "mysql" or "sqlite", not "oracle"',
    );
  });

  it('must give a list of rows', async () => {
    const adapter = { dialect: 'postgres', query: async () => ({ rows: [] }) };
    await expect(gapless('x', adapter)).rejects.toThrow(
      'the answer of query() must be a list of rows, not an object',
    );
  });

  it('that says there is no transaction is believed, and not asked for more', async () => {
    const adapter = { dialect: 'postgres', query: () => expect.unreachable(), inTransaction: () => false };
    await expect(gapless('x', adapter)).rejects.toThrow('transaction must be open');
  });

  it('that says there is a transaction is not believed', async () => {
    const db = memory();
    await sqliteStore(db).defineSequence({ name: 'x' });
    const adapter: SqlAdapter = {
      dialect: 'sqlite',
      query: (text, values) => sqlExecutor(db).query(text, values),
      inTransaction: () => true,
    };
    await expect(gapless('x', adapter)).rejects.toThrow('transaction must be open');
    db.exec('BEGIN');
    expect(await gapless('x', adapter)).toBe(1n);
  });
});

describe('A known object', () => {
  // None of these connects before it is asked.
  it.each([
    ['pg Client', new pg.Client(), 'postgres'],
    ['pg Pool', new pg.Pool(), 'postgres'],
    ['mysql2/promise pool', createPool({}), 'mysql'],
    ['mysql2 pool', createCallbackPool({}), 'mysql'],
    ['libsql', memory(), 'sqlite'],
  ])('has its dialect: %s', (_name, client, dialect) => {
    expect(sqlExecutor(client).dialect).toBe(dialect);
  });

  it('is known as a connection of mysql2 with callbacks', () => {
    const connection = createConnection({ port: 1 });
    connection.on('error', () => {});
    expect(sqlExecutor(connection).dialect).toBe('mysql');
    connection.destroy();
  });

  it.each([
    ['pg Pool', new pg.Pool()],
    ['mysql2/promise pool', createPool({})],
    ['mysql2 pool', createCallbackPool({})],
  ])('is in no transaction if it is a pool, and is not asked: %s', async (_name, pool) => {
    expect(await sqlExecutor(pool).inTransaction()).toBe(false);
  });

  it('has one executor', () => {
    const db = memory();
    expect(sqlExecutor(db)).toBe(sqlExecutor(db));
    expect(sqlExecutor(db)).not.toBe(sqlExecutor(memory()));
  });
});

describe('A statement on SQLite', () => {
  it('gives rows as objects, or none', async () => {
    const sql = sqlExecutor(memory());
    expect(await sql.query('CREATE TABLE t (a TEXT, b INTEGER)')).toEqual([]);
    expect(await sql.query('INSERT INTO t VALUES (?, CAST(? AS INTEGER))', ['x', '1'])).toEqual([]);
    expect(await sql.query('INSERT INTO t VALUES (?, NULL) RETURNING a', ['y'])).toEqual([{ a: 'y' }]);
    expect(await sql.query('SELECT a, CAST(b AS TEXT) AS b FROM t ORDER BY a')).toEqual([
      { a: 'x', b: '1' },
      { a: 'y', b: null },
    ]);
  });

  it('that others write while the database is asked for a transaction is kept', async () => {
    const db = memory();
    db.exec('CREATE TABLE t (a INTEGER)');
    const asked = sqlExecutor(db).inTransaction();
    for (let i = 0; i < 20; i++) {
      db.exec('INSERT INTO t VALUES (1)');
      await Promise.resolve();
    }
    expect(await asked).toBe(false);
    db.exec('BEGIN');
    expect(await sqlExecutor(db).inTransaction()).toBe(true);
    db.exec('ROLLBACK');
    expect(db.prepare('SELECT COUNT(*) AS n FROM t').all()).toEqual([{ n: 20 }]);
  });

  it('keeps the setting that tells of a transaction', async () => {
    const db = memory();
    db.exec('PRAGMA synchronous = EXTRA');
    expect(await sqlExecutor(db).inTransaction()).toBe(false);
    expect(db.prepare('PRAGMA synchronous').all()).toEqual([{ synchronous: 3 }]);
  });
});

function thrownBy(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  return expect.unreachable('nothing was thrown');
}
