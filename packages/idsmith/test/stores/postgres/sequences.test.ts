import { InvalidOptionError, StoreError } from 'idsmith';
import { Client, Pool, type PoolConfig } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith, type ServerProcess, startPostgres } from '#services';
import type { PostgresClient } from '../../../src/stores/postgres/session.ts';
import { postgresStore } from '../../../src/stores/postgres/store.ts';
import { takeWithPlainSql } from '../sql/plain-sql-program.ts';
import { tableCases } from '../sql/table-cases.ts';
import { loadCases } from '../support/load-cases.ts';
import { serverCases } from '../support/server-cases.ts';
import {
  expectNoGap,
  repeatedly,
  type SharedDatabase,
  type UpstreamRow,
  upstreamTable,
} from '../support/shared-database.ts';

await describeWith(['postgres'], 'sequences in PostgreSQL', () => {
  let server: ServerProcess;
  let admin: Pool;
  let databases = 0;

  beforeAll(async () => {
    server = await startPostgres();
    admin = quiet(new Pool({ connectionString: server.url }));
  });
  afterAll(async () => {
    await admin?.end();
    await server?.stop();
  });

  /** Without a listener, the end of the server would be the end of this process. */
  function quiet(pool: Pool): Pool {
    return pool.on('error', () => {});
  }

  /** A database of its own. */
  async function open(config: PoolConfig = {}): Promise<SharedDatabase> {
    const database = `shared_${databases++}`;
    await admin.query(`CREATE DATABASE ${database}`);
    const connectionString = server.url.replace(/postgres$/, database);
    const pools: Pool[] = [];
    const newPool = (options: PoolConfig) => {
      pools.push(quiet(new Pool({ connectionString, ...options })));
      return pools.at(-1)!;
    };
    const other = newPool({ max: 4 });
    let statements = 0;
    return {
      store(max = 2) {
        const pool = newPool({ ...config, max });
        const counted: PostgresClient = {
          query: (text, values) => {
            statements++;
            return pool.query(text, values);
          },
        };
        return postgresStore(counted);
      },
      statements: () => statements,
      sql: (text) => other.query(text),
      async row(name) {
        const text = `SELECT next_block_start::text, block_size::text, exhausted::text
          FROM id_sequences WHERE name = $1`;
        return (await other.query<UpstreamRow>(text, [name])).rows[0];
      },
      async takeBlockBySql(name, way) {
        const client = await other.connect();
        const ask = async (text: string) => (await client.query({ text, rowMode: 'array' })).rows[0] ?? [];
        const begin = (isSerializable: boolean) =>
          ask(isSerializable ? 'BEGIN ISOLATION LEVEL SERIALIZABLE' : 'BEGIN');
        const isUndone = (error: unknown) => ['40001', '40P01'].includes((error as { code: string }).code);
        return takeWithPlainSql({ ask, begin, isUndone }, name, way).finally(() => client.release());
      },
      close: () => Promise.all(pools.map((pool) => pool.end())),
    };
  }

  tableCases(open);
  loadCases(open);
  serverCases(
    () => server,
    open,
    (port, max, timeout) => {
      const connectionString = `postgres://postgres@127.0.0.1:${port}/postgres`;
      const pool = quiet(new Pool({ connectionString, max, connectionTimeoutMillis: 10_000 }));
      return { store: postgresStore(pool, { timeout }), end: () => pool.end() };
    },
  );

  describe('where every transaction is serializable', () => {
    it('tries again what the server has undone', async () => {
      const shared = await open({ options: '-c default_transaction_isolation=serializable' });
      const users = Array.from({ length: 8 }, () => shared.store(1));
      await users[0]!.defineSequence({ name: 'orders', blockSize: 5 });
      const taken = users.map((store) => repeatedly(10, () => store.allocate('orders', 1)));
      const foreign = repeatedly(10, () => shared.takeBlockBySql('orders', 'reads and writes, serializable'));
      expectNoGap((await Promise.all([...taken, foreign])).flat());
      await shared.close();
    });
  });

  /** Runs `work` as a user who may do no more than has been granted, in a database of its own. */
  async function asPlainUser(work: (shared: SharedDatabase, plain: Client) => Promise<void>): Promise<void> {
    const shared = await open();
    const database = `shared_${databases - 1}`;
    await shared.sql(`CREATE ROLE plain_${database} LOGIN`);
    await shared.sql('REVOKE CREATE ON SCHEMA public FROM public');
    const url = server.url.replace('postgres@', `plain_${database}@`).replace(/postgres$/, database);
    const plain = new Client({ connectionString: url });
    await plain.connect();
    await work(shared, plain).finally(() => plain.end());
    await shared.close();
  }
  const grant = (shared: SharedDatabase, user: string | undefined) =>
    shared.sql(`GRANT SELECT, INSERT, UPDATE, DELETE ON id_sequences TO ${user}`);

  it('says which statement is missing if it may not alter a table of upstream, and works once that was run', async () => {
    await asPlainUser(async (shared, plain) => {
      await shared.sql(upstreamTable());
      await shared.sql(`INSERT INTO id_sequences VALUES ('orders', 1, 20, 0)`);
      await grant(shared, plain.user);
      const store = postgresStore(plain);
      const failure = await store.allocate('orders', 1).catch((error) => error);
      expect(failure).toBeInstanceOf(StoreError);
      expect(failure.reason).toBe('ACCESS_DENIED');
      const [statement] = /ALTER TABLE id_sequences .*$/.exec(failure.message) ?? [];
      expect(failure.cause).toMatchObject({ code: '42501' });
      await shared.sql(statement!);
      expect((await store.allocate('orders', 1)).first).toBe(1n);
    });
  });

  it('says which statement is missing if it may not make the table, and needs no right where it is', async () => {
    await asPlainUser(async (shared, plain) => {
      const store = postgresStore(plain);
      const failure = await store.listSequences().catch((error) => error);
      expect(failure).toBeInstanceOf(StoreError);
      const [statement] = /CREATE TABLE .*$/.exec(failure.message) ?? [];
      await shared.sql(statement!);
      await grant(shared, plain.user);
      await store.defineSequence({ name: 'x' });
      expect((await postgresStore(plain).allocate('x', 1)).first).toBe(1n);
    });
  });

  it('takes whatever upstream has made of a flag', async () => {
    for (const type of ['BOOLEAN DEFAULT FALSE', `CHAR(1) DEFAULT '0'`, 'BIGINT']) {
      const shared = await open();
      await shared.sql(upstreamTable(type));
      await shared.sql(`INSERT INTO id_sequences VALUES ('x', 9223372036854775805, 3)`);
      const store = shared.store();
      await store.allocate('x', 1);
      expect(await shared.row('x')).toMatchObject({ next_block_start: '-9223372036854775808' });
      expect((await store.describeSequence('x')).exhausted).toBe(true);
      await shared.close();
    }
  });

  it('waits for nobody but those who hold the same sequence, and for them no longer than it may', async () => {
    const shared = await open();
    const pool = quiet(
      new Pool({ connectionString: server.url.replace(/postgres$/, `shared_${databases - 1}`) }),
    );
    const [store, hasty] = [postgresStore(pool), postgresStore(pool, { timeout: 3000 })];
    for (const name of ['held', 'free']) await store.defineSequence({ name, blockSize: 10 });
    const holder = await pool.connect();
    await holder.query(`BEGIN; SELECT * FROM id_sequences WHERE name = 'held' FOR UPDATE`);
    expect((await store.allocate('free', 1)).first).toBe(1n);
    await hasty.describeSequence('held');
    await expect(hasty.allocate('held', 1)).rejects.toThrow('lock timeout');
    await holder.query('COMMIT');
    holder.release();
    expect((await store.allocate('held', 1)).first).toBe(1n);
    await pool.end();
    await shared.close();
  });

  it('is set up by a later call if the first one failed', async () => {
    const shared = await open();
    const pool = quiet(
      new Pool({ connectionString: server.url.replace(/postgres$/, `shared_${databases - 1}`) }),
    );
    let isBroken = true;
    const store = postgresStore({
      query: (text, values) => (isBroken ? Promise.reject(new Error('away')) : pool.query(text, values)),
    });
    await expect(store.listSequences()).rejects.toThrow('postgres store: listing sequences failed: away');
    isBroken = false;
    expect(await store.listSequences()).toEqual([]);
    await pool.end();
    await shared.close();
  });

  it.each([0, -1, 1.5, Number.NaN, 2 ** 31, '10'])('refuses the timeout %j', (timeout) => {
    expect(() => postgresStore(admin, { timeout: timeout as number })).toThrow(InvalidOptionError);
  });
});
