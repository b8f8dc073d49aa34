import { createClient } from '@libsql/client';
import { drizzle as libsql } from 'drizzle-orm/libsql';
import * as mysql from 'drizzle-orm/mysql-core';
import { drizzle as mysql2 } from 'drizzle-orm/mysql2';
import { drizzle as nodePostgres } from 'drizzle-orm/node-postgres';
import * as pg from 'drizzle-orm/pg-core';
import { customType, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { uuid7 } from 'idsmith/uuid7';
import { createPool } from 'mysql2/promise';
import { Pool } from 'pg';
import { expect } from 'vitest';
import { defaultCases } from './default-cases.mjs';

/** The columns of a table, with their defaults. */
const withDefaults = ({ id, ref, code, ticket, note }, { flakes, codes }) => ({
  id: id.primaryKey().$defaultFn(() => flakes.next()),
  ref: ref.notNull().$defaultFn(() => uuid7()),
  code: code.notNull().$defaultFn(() => codes.next()),
  ticket: ticket.notNull(),
  note,
});

const ways = (db, orders, { tickets }, close) => ({
  async create(order, tx = db) {
    await tx.insert(orders).values({ ticket: await tickets.next(), ...order });
  },
  async createMany(list) {
    const numbers = await tickets.batch(list.length);
    await db.insert(orders).values(list.map((order, i) => ({ ...order, ticket: numbers[i] })));
  },
  transaction: (work) => db.transaction(work),
  rows: () => db.select().from(orders),
  orders,
  orm: db,
  close,
});

const upserts = {
  async 'gives an upsert its ids, and leaves those of a row that is there'({ db, generators, rows }) {
    const [first] = await rows();
    await db.orm
      .insert(db.orders)
      .values({ id: first.id, ticket: await generators.tickets.next(), note: 'new' })
      .onConflictDoUpdate({ target: db.orders.id, set: { note: 'changed' } });
    expect((await rows())[0]).toEqual({ ...first, note: 'changed' });
  },
};

defaultCases(
  'Drizzle',
  'postgres',
  async ({ url }, generators) => {
    const columns = {
      id: pg.bigint({ mode: 'bigint' }),
      ref: pg.uuid(),
      code: pg.varchar({ length: 40 }),
      ticket: pg.bigint({ mode: 'bigint' }),
      note: pg.text(),
    };
    const pool = new Pool({ connectionString: url });
    const orders = pg.pgTable('orders', withDefaults(columns, generators));
    return ways(nodePostgres(pool), orders, generators, () => pool.end());
  },
  upserts,
);

defaultCases('Drizzle', 'mariadb', async ({ url }, generators) => {
  const columns = {
    id: mysql.bigint({ mode: 'bigint' }),
    ref: mysql.char({ length: 36 }),
    code: mysql.varchar({ length: 40 }),
    ticket: mysql.bigint({ mode: 'bigint' }),
    note: mysql.text(),
  };
  const pool = createPool({ uri: url, supportBigNumbers: true, bigNumberStrings: true });
  const orders = mysql.mysqlTable('orders', withDefaults(columns, generators));
  return ways(mysql2(pool), orders, generators, () => pool.end());
});

// Drizzle's own integer column rounds. This one has 64 bits.
const int64 = customType({ dataType: () => 'integer', fromDriver: BigInt });

defaultCases(
  'Drizzle',
  'sqlite',
  async ({ file }, generators) => {
    const columns = { id: int64(), ref: text(), code: text(), ticket: int64(), note: text() };
    const client = createClient({ url: `file:${file}`, intMode: 'bigint' });
    const orders = sqliteTable('orders', withDefaults(columns, generators));
    return ways(libsql(client), orders, generators, () => client.close());
  },
  upserts,
);
