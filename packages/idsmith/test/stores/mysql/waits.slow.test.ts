import { mariadbSequence, memoryStore, Sequences, StoreError } from 'idsmith';
import { createConnection, createPool, type Pool, type PoolOptions } from 'mysql2/promise';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { describeWith, type ServerProcess, startMariadb } from '#services';
import { mysqlStore, patientPool } from '../../../src/stores/mysql/store.ts';
import { upstreamTable } from '../support/shared-database.ts';

const GIVEN_UP = /Lock wait timeout|max_statement_time|no connection was free|no answer within/;

await describeWith(['mariadb'], 'waiting in MariaDB', () => {
  let server: ServerProcess;
  let admin: Pool;
  let uri: string;
  let databases = 0;
  let opened: { end(): Promise<void> }[] = [];

  beforeAll(async () => {
    server = await startMariadb();
    admin = createPool({ uri: server.url });
    // Far longer than any caller waits.
    await admin.query('SET GLOBAL innodb_lock_wait_timeout = 3600');
  });
  beforeEach(async () => {
    const database = `waits_${databases++}`;
    await admin.query(`CREATE DATABASE ${database}`);
    uri = Object.assign(new URL(server.url), { pathname: `/${database}` }).href;
  });
  afterEach(async () => {
    await Promise.all(opened.map((each) => each.end()));
    opened = [];
  });
  afterAll(async () => {
    await admin?.end();
    await server?.stop();
  });

  function pool(connectionLimit: number, options: PoolOptions = {}): Pool {
    const made = createPool({ uri, connectionLimit, ...options });
    opened.push(made);
    return made;
  }
  async function connection() {
    const made = await createConnection({ uri });
    opened.push(made);
    return made;
  }
  const count = async (where: string) => {
    const [rows] = await admin.query(
      `SELECT count(*) AS n FROM information_schema.processlist WHERE ${where}`,
    );
    return Number((rows as { n: unknown }[])[0]!.n);
  };
  const waitingForRows = () =>
    count(`id <> CONNECTION_ID() AND command = 'Query' AND info LIKE '%UPDATE id_sequences%'`);
  const waitingForTables = () => count(`state = 'Waiting for table metadata lock'`);
  const rejectedWith = async (calls: Promise<unknown>[], text: RegExp) => {
    for (const outcome of await Promise.allSettled(calls)) {
      expect(outcome.status).toBe('rejected');
      const { reason } = outcome as PromiseRejectedResult;
      expect(reason).toBeInstanceOf(StoreError);
      expect(reason.message).toMatch(text);
    }
  };

  it('twenty calls that failed at a locked row leave nobody waiting and lose no id', async () => {
    const two = pool(2);
    const [patient, store] = [mysqlStore(two), mysqlStore(two, { timeout: 1000 })];
    await patient.defineSequence({ name: 'orders' });
    await patient.allocate('orders', 1);
    const holder = await connection();
    await holder.query('BEGIN');
    await holder.query('SELECT * FROM id_sequences FOR UPDATE');
    await rejectedWith(
      Array.from({ length: 20 }, () => store.allocate('orders', 1)),
      GIVEN_UP,
    );
    // The server gives up when the callers do, although the row stays locked.
    await expect.poll(waitingForRows).toBe(0);
    await holder.query('COMMIT');
    expect((await patient.allocate('orders', 1)).first).toBe(21n);
  });

  it('a call whose connection comes too late is not run, and transactions on the same pool are told', async () => {
    const small = pool(1);
    const [patient, store] = [mysqlStore(small), mysqlStore(small, { timeout: 500 })];
    await patient.defineSequence({ name: 'orders' });
    const held = await small.getConnection();
    await held.query('BEGIN');
    const calls = [store.allocate('orders', 1), store.allocate('orders', 1)];
    await rejectedWith(calls, /no connection was free.*give the store a pool of its own/);
    await held.query('ROLLBACK');
    held.release();
    expect((await patient.allocate('orders', 1)).first).toBe(1n);
  });

  it('a pool that a URL opens waits for a locked row for less than the time limit of a call, also as MySQL has it', async () => {
    const own = patientPool({ createPool }, uri);
    opened.push(own);
    const [[row]] = (await own.query('SELECT @@innodb_lock_wait_timeout AS seconds')) as unknown as [
      [object],
    ];
    expect(row).toEqual({ seconds: '8' });
  });

  it('every statement carries a limit for the server: changes for MariaDB, SELECTs for MySQL', async () => {
    const sent: string[] = [];
    const small = pool(1);
    const store = mysqlStore({
      query: (sql, values) => {
        sent.push(sql);
        return small.query(sql, values);
      },
    });
    await store.defineSequence({ name: 'orders' });
    sent.length = 0;
    await store.describeSequence('orders');
    await store.allocate('orders', 1);
    await store.swapLease('nodes', undefined, {
      id: 0,
      owner: 'a',
      epoch: 1,
      fence: 1000,
      expiresAt: 2000,
      label: '',
    });
    await store.listLeases('nodes');
    const unlimited = sent.filter(
      (sql) =>
        !/^SELECT \/\*\+ MAX_EXECUTION_TIME\(\d+\) \*\/ |^\/\*M!100300 SET STATEMENT innodb_/.test(sql),
    );
    expect(unlimited.filter((sql) => !sql.startsWith('CREATE TABLE'))).toEqual([]);
    expect(sent.length).toBeGreaterThan(3);
  });

  it('an adoption waits in nobody’s way, and goes on when the table is free', async () => {
    const holder = await connection();
    await holder.query(upstreamTable());
    await holder.query(`INSERT INTO id_sequences VALUES ('orders', 1, 20, 0)`);
    await holder.query('BEGIN');
    await holder.query('SELECT * FROM id_sequences FOR UPDATE');
    const adopting = mysqlStore(pool(2)).allocate('orders', 1);
    const other = await connection();
    for (let i = 0; i < 50; i++) {
      const [rows] = await other.query('SELECT next_block_start FROM id_sequences');
      expect(rows).toHaveLength(1);
      expect(await waitingForTables()).toBe(0);
    }
    await holder.query('COMMIT');
    expect((await adopting).first).toBe(1n);
  });

  describe.each(['READ COMMITTED', 'REPEATABLE READ', 'SERIALIZABLE'])('at %s', (isolation) => {
    it('allocations of many do not fail', async () => {
      const failures: unknown[] = [];
      const stores = Array.from({ length: 16 }, () => {
        const own = pool(1);
        own.on('connection', (made) => {
          made.query(`SET SESSION TRANSACTION ISOLATION LEVEL ${isolation}`);
        });
        return mysqlStore({
          query: (sql, values) =>
            own.query(sql, values).catch((error) => {
              failures.push(error.errno);
              throw error;
            }),
        });
      });
      await stores[0]!.defineSequence({ name: 'hot', blockSize: 10 });
      await Promise.all(stores.map((store) => store.describeSequence('hot')));
      failures.length = 0;
      const taken = await Promise.all(
        stores.map(async (store) => {
          const firsts: bigint[] = [];
          for (let i = 0; i < 50; i++) firsts.push((await store.allocate('hot', 1)).first);
          return firsts;
        }),
      );
      expect(new Set(taken.flat()).size).toBe(800);
      expect(failures).toEqual([]);
    });
  });

  it('a native sequence on a pool of one works again after a call that got no answer', async () => {
    const small = pool(1);
    await small.query('CREATE SEQUENCE orders_seq INCREMENT BY 10');
    const draw = (options = {}) => {
      const source = mariadbSequence(small, 'orders', options);
      return new Sequences(memoryStore()).get('orders', { source, prefetch: 0 });
    };
    const [orders, hasty] = [await draw(), await draw({ timeout: 300 })];
    const holder = await connection();
    await holder.query('LOCK TABLES orders_seq WRITE');
    for (let i = 0; i < 3; i++) await expect(hasty.next()).rejects.toThrow(StoreError);
    await holder.query('UNLOCK TABLES');
    const ids = await orders.batch(25);
    expect(new Set(ids).size).toBe(25);
    const held = await small.getConnection();
    held.release();
  });
});
