import { InvalidOptionError, StoreError } from 'idsmith';
import { mysqlStore } from 'idsmith/stores/mysql';
import { postgresStore } from 'idsmith/stores/postgres';
import { leaseStoreCases, sequenceStoreCases } from 'idsmith/testing';
import { createPool } from 'mysql2';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases } from './databases.mjs';

// Stores on clients that the project's own tests do not have.

describe('A store on postgres.js', () => {
  let sql;
  beforeAll(async () => {
    const { url } = await databases.postgres('stores_on_postgres_js');
    sql = postgres(url, { onnotice() {} });
  });
  afterAll(() => sql?.end());

  const store = () => postgresStore(sql);
  it.each([...leaseStoreCases(store), ...sequenceStoreCases(store)])('$name', ({ run }) => run());

  it('refuses a change inside a transaction', async () => {
    await store().defineSequence({ name: 'outside' });
    const failure = await sql.begin((tx) => postgresStore(tx).allocate('outside', 1)).catch((error) => error);
    expect(failure).toBeInstanceOf(StoreError);
    expect((await store().describeSequence('outside')).next).toBe(1n);
  });
});

it('A store on mysql2 with callbacks has leases and sequences', async () => {
  const { url } = await databases.mariadb('stores_on_mysql2');
  const pool = createPool(url);
  const store = mysqlStore(pool);
  await store.defineSequence({ name: 'orders' });
  expect((await store.allocate('orders', 1)).first).toBe(1n);
  expect((await store.allocate('orders', 1)).first).toBe(21n);
  expect(await store.listLeases('orders')).toEqual([]);
  await pool.promise().end();
});

it.each([
  ['postgresStore', postgresStore],
  ['mysqlStore', mysqlStore],
])('%s refuses a client that it does not know', (_name, make) => {
  for (const client of [undefined, null, {}, 'postgres://h/x'])
    expect(() => make(client)).toThrow(InvalidOptionError);
});
