import { StoreError } from 'idsmith';
import type { SqlAdapter } from 'idsmith/sql';
import { leaseStoreCases, sequenceStoreCases } from 'idsmith/testing';
import { Pool, type PoolClient } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith, type StoreServer, shared } from '#services';
import { postgresStore } from '../../../src/stores/postgres/store.ts';

// CockroachDB reads the two timestamps from two clocks, and is in no package of this project. So a PostgreSQL whose functions of the same
// names are found first answers as CockroachDB does.
const MIMIC = `
  CREATE SCHEMA mimic;
  CREATE FUNCTION mimic.transaction_timestamp() RETURNS timestamptz LANGUAGE sql STABLE
    AS $$ SELECT pg_catalog.transaction_timestamp() - interval '1 microsecond' $$;
  CREATE FUNCTION mimic.version() RETURNS text LANGUAGE sql STABLE AS $$ SELECT 'CockroachDB CCL v24.1.0' $$;`;

type Asking = Pick<PoolClient, 'query'>;

const adapterOf = (pool: Pool, connection: Asking = pool): SqlAdapter => ({
  dialect: 'postgres',
  query: async (text, values) => (await connection.query(text, [...values])).rows,
  transaction: async (work) => {
    const own = await pool.connect();
    try {
      await own.query('BEGIN');
      await work(adapterOf(pool, own));
      await own.query('COMMIT');
    } catch (error) {
      await own.query('ROLLBACK');
      throw error;
    } finally {
      own.release();
    }
  },
});

await describeWith(['postgres'], 'A server whose timestamps come from two clocks', () => {
  let server: StoreServer;
  let pool: Pool;

  beforeAll(async () => {
    server = await shared('postgres');
    const plain = new Pool({ connectionString: server.url });
    await plain.query(MIMIC);
    await plain.end();
    pool = new Pool({ connectionString: server.url, options: '-c search_path=mimic,pg_catalog,public' });
    pool.on('error', () => {});
  });
  afterAll(async () => {
    await pool?.end();
    await server?.stop();
  });

  it('is refused by its name, and nobody is blamed for a transaction', async () => {
    const refused = postgresStore(pool).listLeases('orders');
    await expect(refused).rejects.toThrow(StoreError);
    const { message } = (await refused.catch((error: unknown) => error)) as Error;
    expect(message).toMatch(
      /no transaction is open.* not PostgreSQL; it says "CockroachDB CCL v24\.1\.0".* adapter with transaction/,
    );
    expect(message).not.toContain('inside an open transaction');
  });

  it('is still told from a transaction that is open', async () => {
    const client = await pool.connect();
    await client.query('BEGIN');
    await expect(postgresStore(client).listLeases('orders')).rejects.toThrow('inside an open transaction');
    await client.query('ROLLBACK');
    client.release();
  });

  describe('works by an adapter, which is asked in another way', () => {
    const store = () => postgresStore(adapterOf(pool));
    for (const { name, run } of leaseStoreCases(store)) it(name, run);
    for (const { name, run } of sequenceStoreCases(store)) it(name, run);
  });
});
