import { createClient } from '@libsql/client';
import { drizzle as libsql } from 'drizzle-orm/libsql';
import * as mysql from 'drizzle-orm/mysql-core';
import { drizzle as mysql2 } from 'drizzle-orm/mysql2';
import { drizzle as nodePostgres } from 'drizzle-orm/node-postgres';
import * as pg from 'drizzle-orm/pg-core';
import { drizzle as postgresJs } from 'drizzle-orm/postgres-js';
import { customType, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { createPool } from 'mysql2/promise';
import { Pool } from 'pg';
import postgres from 'postgres';
import { cases } from './cases.mjs';

const ways = (db, invoices, close) => ({
  transaction: (work) => db.transaction(work),
  savepoint: (tx, work) => tx.transaction(work),
  insert: (tx, row) => tx.insert(invoices).values(row),
  rows: () => db.select().from(invoices),
  outside: () => [db],
  close,
});

const onPostgres = pg.pgTable('invoices', {
  id: pg.bigint({ mode: 'bigint' }).primaryKey(),
  ref: pg.uuid().notNull(),
  ticket: pg.bigint({ mode: 'bigint' }).notNull(),
  number: pg.bigint({ mode: 'bigint' }).notNull(),
});

cases('Drizzle', 'postgres', async ({ url }) => {
  const pool = new Pool({ connectionString: url });
  return ways(nodePostgres(pool), onPostgres, () => pool.end());
});

cases('Drizzle with postgres.js', 'postgres', async ({ url }) => {
  const sql = postgres(url, { onnotice() {} });
  return ways(postgresJs(sql), onPostgres, () => sql.end());
});

const onMysql = mysql.mysqlTable('invoices', {
  id: mysql.bigint({ mode: 'bigint' }).primaryKey(),
  ref: mysql.char({ length: 36 }).notNull(),
  ticket: mysql.bigint({ mode: 'bigint' }).notNull(),
  number: mysql.bigint({ mode: 'bigint' }).notNull(),
});

cases('Drizzle', 'mariadb', async ({ url }) => {
  const pool = createPool({ uri: url, supportBigNumbers: true, bigNumberStrings: true });
  return ways(mysql2(pool), onMysql, () => pool.end());
});

// Drizzle's own integer column rounds. This one has 64 bits.
const int64 = customType({ dataType: () => 'integer', fromDriver: BigInt });

const onSqlite = sqliteTable('invoices', {
  id: int64().primaryKey(),
  ref: text().notNull(),
  ticket: int64().notNull(),
  number: int64().notNull(),
});

cases('Drizzle', 'sqlite', async ({ file }) => {
  const client = createClient({ url: `file:${file}`, intMode: 'bigint' });
  return ways(libsql(client), onSqlite, () => client.close());
});
