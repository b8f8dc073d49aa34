import { InvalidOptionError, type LeaseRecord, StoreError } from 'idsmith';
import { leaseStoreCases, sequenceStoreCases } from 'idsmith/testing';
import { type Connection, createConnection, createPool, type Pool, type PoolOptions } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith, type ServerProcess, startMariadb } from '#services';
import type { MysqlClient } from '../../../src/stores/mysql/session.ts';
import { mysqlStore } from '../../../src/stores/mysql/store.ts';

const RECORD: LeaseRecord = { id: 0, owner: 'a', epoch: 1, fence: 1000, expiresAt: 2000, label: 'host 1' };

/** Pools as users may have set them. */
const SETTINGS: [name: string, options: PoolOptions][] = [
  ['as they come', {}],
  ['without FOUND_ROWS', { flags: ['-FOUND_ROWS'] }],
  ['with big numbers as text', { supportBigNumbers: true, bigNumberStrings: true }],
  ['in latin1, with rows as arrays', { charset: 'latin1_swedish_ci', rowsAsArray: true }],
  ['without type casts', { typeCast: false, timezone: '+05:00' }],
];

await describeWith(['mariadb'], 'the mysql store', () => {
  let server: ServerProcess;
  let pool: Pool;
  const pools: Pool[] = [];

  const newPool = (options: PoolOptions = {}) => {
    const made = createPool({ uri: server.url, ...options });
    pools.push(made);
    return made;
  };

  /** Runs `work` with that many connections to a database of its own. */
  async function withConnections(
    count: number,
    work: (connections: Connection[], database: string) => Promise<void>,
  ): Promise<void> {
    const database = `db_${crypto.randomUUID().replaceAll('-', '')}`;
    await pool.query(`CREATE DATABASE ${database}`);
    const uri = server.url.replace(/test$/, database);
    const connections = await Promise.all(Array.from({ length: count }, () => createConnection(uri)));
    await work(connections, database).finally(() => Promise.all(connections.map((each) => each.end())));
  }

  beforeAll(async () => {
    server = await startMariadb();
    pool = newPool();
  });

  afterAll(async () => {
    await Promise.all(pools.map((made) => made.end()));
    await server?.stop();
  });

  describe.each(SETTINGS)('on a pool %s', (_name, options) => {
    let store: ReturnType<typeof mysqlStore>;
    beforeAll(() => {
      store = mysqlStore(newPool(options));
    });
    for (const { name, run } of leaseStoreCases(() => store)) it(name, run);
    for (const { name, run } of sequenceStoreCases(() => store)) it(name, run);
  });

  it('keeps text as it is where the server takes a backslash as it is', async () => {
    await withConnections(1, async ([connection]) => {
      await connection!.query(`SET sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'`);
      const store = mysqlStore(connection!);
      const record = { ...RECORD, owner: `\\' "; --`, label: `\\" ' 🔑` };
      expect(await store.swapLease(`\\' 🔑`, undefined, record)).toBe(true);
      expect(await store.listLeases(`\\' 🔑`)).toEqual([record]);
    });
  });

  it('is set up by twenty at once on an empty database', async () => {
    await withConnections(20, async (connections) => {
      for (let round = 0; round < 5; round++) {
        const lists = connections.map((connection) => mysqlStore(connection).listLeases('x'));
        expect((await Promise.all(lists)).flat()).toEqual([]);
        await connections[0]!.query('DROP TABLE idsmith_leases');
      }
    });
  });

  it('makes its table once, and not at all where it is', async () => {
    await withConnections(1, async ([connection]) => {
      const statements: string[] = [];
      const watched: MysqlClient = {
        query: (sql, values) => {
          statements.push(sql);
          return connection!.query(sql, values);
        },
      };
      const created = () => statements.filter((sql) => /^CREATE TABLE .*idsmith_leases/.test(sql)).length;
      const store = mysqlStore(watched);
      await Promise.all([store.listLeases('x'), store.listLeases('y')]);
      await store.listLeases('x');
      expect(created()).toBe(1);
      await mysqlStore(watched).listLeases('x');
      expect(created()).toBe(1);
    });
  });

  it('looks at the marker of the schema once, for leases and sequences together', async () => {
    await withConnections(1, async ([connection]) => {
      const first = mysqlStore(connection!);
      await first.listLeases('x');
      await first.defineSequence({ name: 'x' });
      const looks: string[] = [];
      const watched: MysqlClient = {
        query: (text, values) => {
          if (text.includes('idsmith_schema')) looks.push(text);
          return connection!.query(text, values);
        },
      };
      const store = mysqlStore(watched);
      await Promise.all([
        store.listLeases('x'),
        store.allocate('x', 1),
        store.swapLease('x', undefined, RECORD),
      ]);
      await store.defineSequence({ name: 'y' });
      expect(looks).toHaveLength(1);
    });
  });

  it('needs no right to create tables where its table is', async () => {
    await withConnections(1, async ([connection], database) => {
      await mysqlStore(connection!).listLeases('x');
      await connection!.query(`CREATE USER plain IDENTIFIED BY 'secret'`);
      await connection!.query('GRANT SELECT, INSERT, UPDATE ON idsmith_leases TO plain');
      const plain = newPool({ user: 'plain', password: 'secret', database });
      expect(await mysqlStore(plain).swapLease('x', undefined, RECORD)).toBe(true);
    });
  });

  it('says which statement is missing if it may not make its table', async () => {
    await withConnections(1, async ([connection]) => {
      const database = `poor_${process.pid}`;
      await connection!.query(`CREATE DATABASE ${database}`);
      await connection!.query(`CREATE USER poor IDENTIFIED BY 'secret'`);
      await connection!.query(`GRANT SELECT, INSERT, UPDATE ON ${database}.* TO poor`);
      const poor = newPool({ user: 'poor', password: 'secret', database });
      const failure = await mysqlStore(poor)
        .listLeases('x')
        .catch((error) => error);
      expect(failure).toMatchObject({ code: 'STORE', reason: 'ACCESS_DENIED' });
      const [statement] = /CREATE TABLE .*$/s.exec(failure.message) ?? [];
      await connection!.query(`USE ${database}`);
      await connection!.query(statement!);
      expect(await mysqlStore(poor).swapLease('x', undefined, RECORD)).toBe(true);
    });
  });

  it('has the clock of the server, in whatever time zone', async () => {
    await withConnections(1, async ([connection]) => {
      await connection!.query(`SET time_zone = '+05:30'`);
      const before = Date.now();
      const now = await mysqlStore(connection!).now!();
      expect(now).toBeGreaterThanOrEqual(before - 1);
      expect(now).toBeLessThanOrEqual(Date.now() + 1);
    });
  });

  it('works again after the server was restarted, and after it was killed', async () => {
    const store = mysqlStore(newPool());
    expect(await store.swapLease('restart', undefined, RECORD)).toBe(true);
    await server.restart();
    expect(await store.swapLease('restart', RECORD, { ...RECORD, epoch: 2 })).toBe(true);
    await server.kill();
    const failure = await store.listLeases('restart').catch((error) => error);
    expect(failure).toBeInstanceOf(StoreError);
    // The end of the server may be seen before the end of its idle connection, and the call be sent there.
    expect(failure.message).toMatch(
      /^mysql store: listing leases failed: .*(ECONNREFUSED|Connection lost|ECONNRESET)/,
    );
    expect(failure.cause).toBeInstanceOf(Error);
    await server.restart();
    expect(await store.listLeases('restart')).toEqual([{ ...RECORD, epoch: 2 }]);
  });

  it('repeats what was rolled back, and only that', async () => {
    const errnos = [1213, 1020, 1205];
    const store = mysqlStore({
      query: async (sql, values) => {
        const errno = sql.includes('UPDATE ') ? errnos.shift() : undefined;
        if (errno) throw Object.assign(new Error(`errno ${errno}`), { errno });
        return pool.query(sql, values);
      },
    });
    await store.swapLease('repeat', undefined, RECORD);
    await expect(store.swapLease('repeat', RECORD, RECORD)).rejects.toThrow('errno 1205');
    expect(await store.swapLease('repeat', RECORD, RECORD)).toBe(true);
  });

  it('fails rather than round a number', async () => {
    const store = mysqlStore(pool);
    await store.swapLease('large', undefined, RECORD);
    await pool.query(`UPDATE idsmith_leases SET epoch = 9007199254740993 WHERE namespace = 'large'`);
    await expect(store.listLeases('large')).rejects.toThrow(
      /listing leases failed: epoch is 9007199254740993/,
    );
  });

  it('takes a namespace of 255 characters of four bytes in UTF-8, and no longer one', async () => {
    const store = mysqlStore(pool);
    const long = `${'🔑'.repeat(127)}x`;
    expect(await store.swapLease(long, undefined, RECORD)).toBe(true);
    expect(await store.listLeases(long)).toEqual([RECORD]);
    await expect(store.listLeases(`${long}x`)).rejects.toThrow(InvalidOptionError);
  });

  it('leaves the pool open when it is closed', async () => {
    await mysqlStore(pool).close();
    expect((await pool.query('SELECT 1 AS one'))[0]).toEqual([{ one: 1 }]);
  });

  it('refuses a server whose connections do not commit by themselves', async () => {
    await pool.query('SET GLOBAL autocommit = 0');
    try {
      const store = mysqlStore(newPool());
      await expect(store.allocate('x', 1)).rejects.toThrow('autocommit');
      await expect(store.listLeases('x')).rejects.toThrow('autocommit');
    } finally {
      await pool.query('SET GLOBAL autocommit = 1');
    }
  });
});
