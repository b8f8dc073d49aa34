import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Libsql from 'libsql';
import { createConnection } from 'mysql2/promise';
import pg from 'pg';
import { inject } from 'vitest';

// A database of its own for each ORM, with a table of ids: `id` is a flake, `ref` a locality id, `ticket` an id of a sequence, and `number` is
// gapless.

const TABLE = (uuid) => `CREATE TABLE invoices (
  id BIGINT NOT NULL PRIMARY KEY, ref ${uuid} NOT NULL, ticket BIGINT NOT NULL, number BIGINT NOT NULL UNIQUE)`;

/** Makes a database on each server. Each gives the URL of a new database, and removes it. */
export const databases = {
  async postgres(name) {
    const url = await created(inject('postgres'), name, TABLE('UUID'), async (sql, at) => {
      const client = new pg.Client({ connectionString: at });
      await client.connect();
      await client.query(sql);
      await client.end();
    });
    return { url, remove() {} };
  },

  async mariadb(name) {
    // The type UUID of MariaDB refuses every second locality id.
    const table = TABLE('CHAR(36) CHARACTER SET ascii');
    const url = await created(inject('mariadb'), name, table, async (sql, at) => {
      const connection = await createConnection(at);
      await connection.query(sql);
      await connection.end();
    });
    return { url, remove() {} };
  },

  async sqlite(name) {
    const folder = mkdtempSync(join(tmpdir(), 'idsmith-orms-'));
    const file = join(folder, `${name}.db`);
    const db = new Libsql(file);
    db.exec('PRAGMA journal_mode = WAL');
    db.exec(TABLE('TEXT').replace('id BIGINT NOT NULL', 'id INTEGER NOT NULL'));
    db.close();
    return { url: `sqlite:${file}`, file, remove: () => rmSync(folder, { recursive: true }) };
  },
};

async function created(server, name, table, execute) {
  await execute(`CREATE DATABASE ${name}`, server);
  const url = new URL(server);
  url.pathname = `/${name}`;
  await execute(table, url.href);
  return url.href;
}
