import { memoryStore, postgresSequence, Sequences, StoreError } from 'idsmith';
import { Client, Pool, type PoolConfig } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeWith, type ServerProcess, startPostgres } from '#services';
import { postgresStore } from '../../../src/stores/postgres/store.ts';
import { upstreamTable } from '../support/shared-database.ts';

const GIVEN_UP = /lock timeout|statement timeout|no connection was free|no answer within/;

await describeWith(['postgres'], 'waiting in PostgreSQL', () => {
  let server: ServerProcess;
  let admin: Pool;
  let url: string;
  let databases = 0;
  let opened: { end(): Promise<void> }[] = [];

  beforeAll(async () => {
    server = await startPostgres();
    admin = new Pool({ connectionString: server.url });
    admin.on('error', () => {});
  });
  beforeEach(async () => {
    const database = `waits_${databases++}`;
    await admin.query(`CREATE DATABASE ${database}`);
    url = server.url.replace(/postgres$/, database);
  });
  afterEach(async () => {
    await Promise.all(opened.map((each) => each.end()));
    opened = [];
  });
  afterAll(async () => {
    await admin?.end();
    await server?.stop();
  });

  function pool(config: PoolConfig = {}): Pool {
    const made = new Pool({ connectionString: url, ...config });
    made.on('error', () => {});
    opened.push(made);
    return made;
  }
  async function connection(): Promise<Client> {
    const client = new Client({ connectionString: url });
    client.on('error', () => {});
    await client.connect();
    opened.push(client);
    return client;
  }
  const count = async (sql: string) => Number((await admin.query(sql)).rows[0].count);
  const waitingBackends = () =>
    count(`SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND pid <> pg_backend_pid()`);
  const rejectedWith = async (calls: Promise<unknown>[], text: RegExp) => {
    for (const outcome of await Promise.allSettled(calls)) {
      expect(outcome.status).toBe('rejected');
      const { reason } = outcome as PromiseRejectedResult;
      expect(reason).toBeInstanceOf(StoreError);
      expect(reason.message).toMatch(text);
    }
  };

  it('twenty calls that failed at a locked row leave no waiting backend and lose no id', async () => {
    const two = pool({ max: 2 });
    const [patient, store] = [postgresStore(two), postgresStore(two, { timeout: 1000 })];
    await patient.defineSequence({ name: 'orders' });
    await patient.allocate('orders', 1);
    const holder = await connection();
    await holder.query(`BEGIN; SELECT * FROM id_sequences FOR UPDATE`);
    await rejectedWith(
      Array.from({ length: 20 }, () => store.allocate('orders', 1)),
      GIVEN_UP,
    );
    // The server gives up when the callers do, although the row stays locked.
    await expect.poll(waitingBackends).toBe(0);
    await holder.query('COMMIT');
    expect((await patient.allocate('orders', 1)).first).toBe(21n);
  });

  it('a call whose connection comes too late is not run', async () => {
    const small = pool({ max: 1 });
    const [patient, store] = [postgresStore(small), postgresStore(small, { timeout: 500 })];
    await patient.defineSequence({ name: 'orders' });
    const held = await small.connect();
    await rejectedWith([store.allocate('orders', 1), store.allocate('orders', 1)], /no connection was free/);
    held.release();
    expect((await patient.describeSequence('orders')).next).toBe(1n);
    expect((await patient.allocate('orders', 1)).first).toBe(1n);
  });

  it('a call on a single connection that is busy is not run later', async () => {
    const client = await connection();
    const [patient, store] = [postgresStore(client), postgresStore(client, { timeout: 500 })];
    await patient.defineSequence({ name: 'orders' });
    const holder = await connection();
    await holder.query(`BEGIN; SELECT * FROM id_sequences FOR UPDATE`);
    await rejectedWith(
      Array.from({ length: 5 }, () => store.allocate('orders', 1)),
      GIVEN_UP,
    );
    await expect.poll(waitingBackends).toBe(0);
    await holder.query('COMMIT');
    expect((await patient.allocate('orders', 1)).first).toBe(1n);
  });

  it('transactions that wait for the store on their own pool are told so', async () => {
    const shared = pool({ max: 2 });
    const store = postgresStore(shared, { timeout: 500 });
    await postgresStore(shared).defineSequence({ name: 'orders' });
    const clients = [await shared.connect(), await shared.connect()];
    for (const client of clients) await client.query('BEGIN');
    const orders = await new Sequences(postgresStore(pool())).get('orders');
    await rejectedWith(
      clients.map(() => store.allocate('orders', 1)),
      /give the store a pool of its own/,
    );
    expect(await orders.next()).toBe(1n);
    for (const client of clients) {
      await client.query('ROLLBACK');
      client.release();
    }
  });

  it("the pool's own time limit for connections says the same", async () => {
    const small = pool({ max: 1, connectionTimeoutMillis: 500 });
    const store = postgresStore(small);
    // On a busy machine connecting may take longer than that.
    await expect.poll(() => small.query('SELECT 1').then(({ rowCount }) => rowCount, String)).toBe(1);
    await store.defineSequence({ name: 'orders' });
    const held = await small.connect();
    await rejectedWith([store.allocate('orders', 1)], /give the store a pool of its own/);
    held.release();
  });

  it('leaves the limits of the session, and of a transaction of somebody else, as they are', async () => {
    const small = pool({ max: 1, lock_timeout: 1234 });
    const store = postgresStore(small, { timeout: 5000 });
    await store.defineSequence({ name: 'orders' });
    await store.allocate('orders', 1);
    const limits = () => small.query('SHOW lock_timeout').then(({ rows }) => rows[0].lock_timeout);
    expect(await limits()).toBe('1234ms');
    await small.query('BEGIN');
    await expect(store.allocate('orders', 1)).rejects.toThrow('inside an open transaction');
    await store.describeSequence('orders');
    expect(await limits()).toBe('1234ms');
    await small.query('ROLLBACK');
  });

  it('an adoption waits in nobody’s way, and goes on when the table is free', async () => {
    const holder = await connection();
    await holder.query(upstreamTable());
    await holder.query(`INSERT INTO id_sequences VALUES ('orders', 1, 20, 0)`);
    await holder.query(`BEGIN; SELECT * FROM id_sequences FOR UPDATE`);
    const adopting = postgresStore(pool()).allocate('orders', 1);
    const other = await connection();
    for (let i = 0; i < 50; i++) {
      const { rows } = await other.query('SELECT next_block_start FROM id_sequences');
      expect(rows).toHaveLength(1);
      expect(await waitingBackends()).toBe(0);
    }
    await holder.query('COMMIT');
    expect((await adopting).first).toBe(1n);
  });

  describe.each(['repeatable read', 'serializable'])('with a default isolation of %s', (isolation) => {
    const options = `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`;

    it('allocations of many do not fail', async () => {
      let failures = 0;
      const stores = Array.from({ length: 16 }, () => {
        const own = pool({ max: 1, options });
        return postgresStore({
          query: (text, values) =>
            own.query(text, values).catch((error) => {
              if (error.code === '40001') failures++;
              throw error;
            }),
        });
      });
      await stores[0]!.defineSequence({ name: 'hot', blockSize: 10 });
      await Promise.all(stores.map((store) => store.describeSequence('hot')));
      const taken = await Promise.all(
        stores.map(async (store) => {
          const firsts: bigint[] = [];
          for (let i = 0; i < 50; i++) firsts.push((await store.allocate('hot', 1)).first);
          return firsts;
        }),
      );
      expect(new Set(taken.flat()).size).toBe(800);
      expect((await stores[0]!.describeSequence('hot')).next).toBe(8001n);
      expect(failures).toBe(0);
    });

    it.each(['BEGIN', 'BEGIN; SELECT 1'])('a connection left after %s is not used', async (spoil) => {
      const small = pool({ max: 1, options });
      const store = postgresStore(small);
      await store.defineSequence({ name: 'orders' });
      await small.query(spoil);
      await expect(store.allocate('orders', 1)).rejects.toThrow('inside an open transaction');
      // The transaction cannot go on in a weaker isolation: its end is a rollback.
      expect((await small.query('COMMIT')).command).toBe('ROLLBACK');
      expect((await store.allocate('orders', 1)).first).toBe(1n);
    });
  });

  describe('for a native sequence', () => {
    it('a pool of one works again after a call that got no answer', async () => {
      const small = pool({ max: 1 });
      await small.query('CREATE SEQUENCE orders_seq INCREMENT BY 10');
      const draw = (options = {}) => {
        const source = postgresSequence(small, 'orders', options);
        return new Sequences(memoryStore()).get('orders', { source, prefetch: 0 });
      };
      const [orders, hasty] = [await draw(), await draw({ timeout: 500 })];
      const holder = await connection();
      await holder.query('BEGIN; ALTER SEQUENCE orders_seq INCREMENT BY 10');
      for (let i = 0; i < 3; i++) await expect(hasty.next()).rejects.toThrow(StoreError);
      await holder.query('ROLLBACK');
      const ids = await orders.batch(25);
      expect(new Set(ids).size).toBe(25);
      await expect.poll(() => [small.totalCount - small.idleCount, small.waitingCount]).toEqual([0, 0]);
    });

    it('a call whose connection comes too late draws no value', async () => {
      const small = pool({ max: 1 });
      await small.query('CREATE SEQUENCE late_seq');
      const source = postgresSequence(small, 'late', { timeout: 500 });
      const held = await small.connect();
      await rejectedWith([source.allocate(1), source.allocate(1)], /no connection was free/);
      held.release();
      expect((await postgresSequence(small, 'late').allocate(1)).first).toBe(1n);
    });
  });
});
