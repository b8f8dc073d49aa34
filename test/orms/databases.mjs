import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Libsql from 'libsql';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { inject } from 'vitest';

// A database of its own for each ORM. `invoices` has numbers without gaps: `id` is a flake, `ref` a locality id, `ticket` an id of a sequence.
// `orders` and `order_lines` have ids that the ORM fills in: `id` is a flake, `ref` a UUIDv7, `code` a typed id, `ticket` an id of a sequence.

const TABLES = {
  invoices: ({ uuid, key = 'BIGINT' }) => [
    `CREATE TABLE invoices (
      id ${key} NOT NULL PRIMARY KEY, ref ${uuid} NOT NULL, ticket BIGINT NOT NULL, number BIGINT NOT NULL UNIQUE)`,
  ],
  orders: ({ uuid, key = 'BIGINT' }) => [
    `CREATE TABLE orders (
      id ${key} NOT NULL PRIMARY KEY, ref ${uuid} NOT NULL, code VARCHAR(40) NOT NULL UNIQUE, ticket BIGINT NOT NULL,
      note VARCHAR(100))`,
    `CREATE TABLE order_lines (
      id ${uuid} NOT NULL PRIMARY KEY, order_id BIGINT NOT NULL REFERENCES orders (id), article VARCHAR(100) NOT NULL)`,
  ],
};

/** Makes a database with tables of one kind on each server: its `url`, `read(sql)` with whole numbers as text, and `remove()`. */
export const databases = {
  async postgres(name, tables = 'invoices') {
    const url = await created(inject('postgres'), name, TABLES[tables]({ uuid: 'UUID' }), async (sql, at) => {
      const client = new pg.Client({ connectionString: at });
      await client.connect();
      await client.query(sql);
      await client.end();
    });
    const read = async (sql) => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      const { rows } = await client.query(sql);
      await client.end();
      return rows;
    };
    return { url, read, remove() {} };
  },

  async mariadb(name, tables = 'invoices') {
    // The type UUID of MariaDB refuses every second locality id.
    const statements = TABLES[tables]({ uuid: 'CHAR(36) CHARACTER SET ascii' });
    const url = await created(inject('mariadb'), name, statements, async (sql, at) => {
      const connection = await createConnection(at);
      await connection.query(sql);
      await connection.end();
    });
    const read = async (sql) => {
      const connection = await createConnection({
        uri: url,
        supportBigNumbers: true,
        bigNumberStrings: true,
      });
      const [rows] = await connection.query(sql);
      await connection.end();
      return rows.map((row) => ({ ...row }));
    };
    return { url, read, remove() {} };
  },

  async sqlite(name, tables = 'invoices') {
    const folder = mkdtempSync(join(tmpdir(), 'idsmith-orms-'));
    const file = join(folder, `${name}.db`);
    const db = new Libsql(file);
    db.exec('PRAGMA journal_mode = WAL');
    for (const table of TABLES[tables]({ uuid: 'TEXT', key: 'INTEGER' })) db.exec(table);
    db.close();
    const read = async (sql) => {
      const db = new Libsql(file);
      const rows = db.prepare(sql).safeIntegers(true).all();
      db.close();
      const exactly = (value) => (typeof value === 'bigint' ? String(value) : value);
      return rows.map((row) =>
        Object.fromEntries(Object.entries(row).map(([name, value]) => [name, exactly(value)])),
      );
    };
    return { url: `sqlite:${file}`, file, read, remove: () => rmSync(folder, { recursive: true }) };
  },
};

async function created(server, name, statements, execute) {
  await execute(`CREATE DATABASE ${name}`, server);
  const url = new URL(server);
  url.pathname = `/${name}`;
  for (const statement of statements) await execute(statement, url.href);
  return url.href;
}
