import {
  type Block,
  InvalidOptionError,
  NoSuchSequenceError,
  SequenceExistsError,
  StoreError,
} from 'idsmith';
import { createPool, type Pool, type PoolOptions } from 'mysql2/promise';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, type ServerProcess, startMariadb } from '#services';
import { partOf } from '../../../src/sequence/block.ts';
import { mysqlStore } from '../../../src/stores/mysql/store.ts';
import { tableCases } from '../sql/table-cases.ts';
import { loadCases } from '../support/load-cases.ts';
import { serverCases } from '../support/server-cases.ts';
import { expectNoGap, type SharedDatabase, upstreamTable } from '../support/shared-database.ts';
import { sharedMysql } from './support/shared-mysql.ts';

await describeWith(['mariadb'], 'sequences in MariaDB', () => {
  let server: ServerProcess;
  let admin: Pool;
  let databases = 0;

  beforeAll(async () => {
    server = await startMariadb();
    admin = createPool({ uri: server.url });
  });
  afterAll(async () => {
    await admin?.end();
    await server?.stop();
  });

  /** A database of its own. */
  async function open(options: PoolOptions = {}): Promise<SharedDatabase> {
    const database = `shared_${databases++}`;
    await admin.query(`CREATE DATABASE ${database}`);
    return sharedMysql(server.url.replace(/test$/, database), options);
  }

  tableCases(open);
  loadCases(open);
  serverCases(
    () => server,
    open,
    (port, connectionLimit, timeout) => {
      const pool = createPool({ uri: `mysql://root@127.0.0.1:${port}/test`, connectionLimit });
      return { store: mysqlStore(pool, { timeout }), end: () => pool.end() };
    },
  );

  /** Runs `work` with a pool on a shared database, with those options. */
  async function withPool(
    options: PoolOptions,
    work: (shared: SharedDatabase, pool: Pool) => Promise<void>,
  ): Promise<void> {
    const shared = await open();
    const pool = createPool({ uri: server.url.replace(/test$/, `shared_${databases - 1}`), ...options });
    await work(shared, pool).finally(() => pool.end());
    await shared.close();
  }

  it('hides its columns from programs that ask for all', async () => {
    await withPool({}, async (shared, pool) => {
      await shared.store().defineSequence({ name: 'x', start: 5 });
      const [rows] = await pool.query('SELECT * FROM id_sequences');
      expect(rows).toEqual([{ name: 'x', next_block_start: 5, block_size: 20, exhausted: 0 }]);
    });
  });

  it('keeps a name as it is where the server takes a backslash as it is', async () => {
    await withPool({ connectionLimit: 1 }, async (_lab, pool) => {
      await pool.query(`SET sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES'`);
      const store = mysqlStore(pool);
      await store.defineSequence({ name: '\\ 🔑' });
      expect((await store.describeSequence('\\ 🔑')).name).toBe('\\ 🔑');
    });
  });

  it('has one sequence where the table of another program knows no case, however it is called', async () => {
    await withPool({}, async (shared) => {
      await shared.sql(`${upstreamTable()} CHARACTER SET latin1 COLLATE latin1_swedish_ci`);
      await shared.sql(`INSERT INTO id_sequences VALUES ('Öl', 1, 10, 0)`);
      const [one, two] = [shared.store(), shared.store()];
      await expect(one.defineSequence({ name: 'öl' })).rejects.toThrow(SequenceExistsError);
      const names = ['Öl', 'öl', 'ÖL', 'Öl', 'ÖL'];
      const blocks: Block[] = [];
      for (const name of names) for (const store of [one, two]) blocks.push(await store.allocate(name, 1));
      await one.alterSequence('öl', { blockSize: 5 });
      for (const name of names) blocks.push(await two.allocate(name, 1));
      expectNoGap(blocks);
      const last = blocks.at(-1)!;
      expect(await one.giveBack!('öL', partOf(last, 2, 3))).toBe(true);
      expect((await two.allocate('Öl', 1)).first).toBe(last.first + 2n);
      expect((await one.describeSequence('öl')).name).toBe('Öl');
      await one.removeSequence('ÖL');
      await expect(two.allocate('Öl', 1)).rejects.toThrow(NoSuchSequenceError);
    });
  });

  it('says which statement is missing if it may not alter a table of upstream, and works once that was run', async () => {
    await withPool({}, async (shared, pool) => {
      await shared.sql(upstreamTable());
      await shared.sql(`INSERT INTO id_sequences VALUES ('orders', 1, 20, 0)`);
      await pool.query(`CREATE USER plain IDENTIFIED BY 'secret'`);
      await pool.query('GRANT SELECT, INSERT, UPDATE, DELETE ON id_sequences TO plain');
      const database = `shared_${databases - 1}`;
      const plain = createPool({ uri: server.url, user: 'plain', password: 'secret', database });
      const store = mysqlStore(plain);
      const failure = await store.allocate('orders', 1).catch((error) => error);
      expect(failure).toBeInstanceOf(StoreError);
      const [statement] = /ALTER TABLE id_sequences .*$/.exec(failure.message) ?? [];
      await shared.sql(statement!);
      expect((await store.allocate('orders', 1)).first).toBe(1n);
      expect((await mysqlStore(plain).allocate('orders', 1)).first).toBe(21n);
      await plain.end();
    });
  });

  it('waits for nobody but those who hold the same sequence, and for them no longer than it may', async () => {
    for (const table of ['CREATE TABLE other (x INT)', `${upstreamTable()} CHARACTER SET utf8mb3`]) {
      await withPool({}, async (shared, pool) => {
        await shared.sql(table);
        const [store, hasty] = [mysqlStore(pool), mysqlStore(pool, { timeout: 3000 })];
        for (const name of ['free', 'held', 'other']) await store.defineSequence({ name, blockSize: 10 });
        const holder = await pool.getConnection();
        await holder.query('BEGIN');
        await holder.query(`SELECT * FROM id_sequences WHERE name = 'held' FOR UPDATE`);
        for (const name of ['free', 'other']) expect((await store.allocate(name, 1)).first).toBe(1n);
        await hasty.describeSequence('held');
        await expect(hasty.allocate('held', 1)).rejects.toThrow(/max_statement_time|Lock wait timeout/);
        await holder.query('COMMIT');
        holder.release();
        expect((await store.allocate('held', 1)).first).toBe(1n);
      });
    }
  });

  it('tries again what the server has undone, and only that', async () => {
    await withPool({}, async (_lab, pool) => {
      const errnos = [1213, 1020, 1205];
      const store = mysqlStore({
        query: async (sql, values) => {
          const errno = sql.includes('UPDATE ') ? errnos.shift() : undefined;
          if (errno) throw Object.assign(new Error(`errno ${errno}`), { errno });
          return pool.query(sql, values);
        },
      });
      await store.defineSequence({ name: 'x' });
      await expect(store.allocate('x', 1)).rejects.toThrow('errno 1205');
      expect((await store.allocate('x', 1)).first).toBe(1n);
    });
  });

  it('leaves a server that has become read-only, for whichever is the primary by then', async () => {
    await withPool({}, async (shared, pool) => {
      await shared.store().defineSequence({ name: 'x' });
      await pool.query(`CREATE USER writer IDENTIFIED BY 'secret'`);
      await pool.query('GRANT SELECT, UPDATE ON id_sequences TO writer');
      const database = `shared_${databases - 1}`;
      const uri = server.url.replace('root@', 'writer:secret@').replace(/test$/, database);
      const writers = createPool({ uri, connectionLimit: 1 });
      let connections = 0;
      writers.on('connection', () => connections++);
      const store = mysqlStore(writers);
      await store.allocate('x', 1);
      await pool.query('SET GLOBAL read_only = 1');
      await expect(store.allocate('x', 1)).rejects.toThrow(
        expect.objectContaining({
          message: expect.stringContaining(
            'read_only is on, as on a replica: a store needs the primary, which takes writes',
          ),
          reason: 'READ_ONLY',
        }),
      );
      await pool.query('SET GLOBAL read_only = 0');
      expect((await store.allocate('x', 1)).first).toBe(21n);
      expect(connections).toBe(2);
      await writers.end();
    });
  });

  it('refuses a replica even to a user who may write there, until it is promoted', async () => {
    await withPool({}, async (shared, pool) => {
      await shared.store().defineSequence({ name: 'x' });
      await pool.query('SET GLOBAL read_only = 1');
      const store = mysqlStore(pool);
      const record = { id: 0, owner: 'a', epoch: 1, fence: 5, expiresAt: 5, label: '' };
      const changes = [
        () => store.allocate('x', 1),
        () => store.defineSequence({ name: 'y' }),
        () => store.swapLease('nodes', undefined, record),
      ];
      for (const change of changes)
        await expect(change()).rejects.toThrow(
          expect.objectContaining({
            message: expect.stringMatching('read_only is on, as on a replica: a store needs the primary'),
            reason: 'READ_ONLY',
          }),
        );
      expect(await store.describeSequence('x')).toMatchObject({ next: 1n });
      await pool.query('SET GLOBAL read_only = 0');
      expect((await store.allocate('x', 1)).first).toBe(1n);
      expect(await store.swapLease('nodes', undefined, record)).toBe(true);
    });
  });

  it('refuses a table that the server keeps in its memory', async () => {
    await withPool({}, async (shared, pool) => {
      await shared.sql(`${upstreamTable()} ENGINE = MEMORY`);
      await expect(mysqlStore(pool).listSequences()).rejects.toThrow(
        /storage engine MEMORY.*ENGINE = InnoDB/,
      );
    });
  });

  it('does not ascend where a copy of the table has lost that a sequence descends', async () => {
    await withPool({}, async (shared, pool) => {
      const store = mysqlStore(pool);
      await store.defineSequence({ name: 'down', start: 100, step: -1, blockSize: 10 });
      await store.defineSequence({ name: 'up', start: 100, blockSize: 10 });
      for (const name of ['down', 'up']) await store.allocate(name, 3);
      // The columns that are ours are invisible, and `*` leaves them out.
      await shared.sql('CREATE TABLE copy LIKE id_sequences');
      await shared.sql('INSERT INTO copy SELECT * FROM id_sequences');
      await shared.sql('DROP TABLE id_sequences');
      await shared.sql('RENAME TABLE copy TO id_sequences');
      for (const each of [store, mysqlStore(pool)]) {
        const failure = await each.allocate('down', 1).catch((error) => error);
        expect(failure).toBeInstanceOf(StoreError);
        expect(failure.message).toMatch(/block_size of sequence "down" is -10, so the sequence descends/);
      }
      expect((await store.allocate('up', 1)).first).toBe(130n);
      await shared.sql(`UPDATE id_sequences SET step = -1 WHERE name = 'down'`);
      expect((await store.allocate('down', 1)).first).toBe(70n);
    });
  });

  it('goes on with descending sequences whose block size an earlier version has kept without its sign', async () => {
    await withPool({}, async (shared, pool) => {
      const store = mysqlStore(pool);
      await store.defineSequence({ name: 'down', start: 100, step: -1, blockSize: 10 });
      await shared.sql('UPDATE id_sequences SET block_size = 10');
      expect((await store.allocate('down', 1)).first).toBe(100n);
      const last = await mysqlStore(pool).allocate('down', 2);
      expect(last).toMatchObject({ first: 90n, count: 20 });
      expect(await store.giveBack!('down', partOf(last, 10, 10))).toBe(true);
      expect(await shared.row('down')).toMatchObject({ next_block_start: '80', block_size: '-10' });
    });
  });

  it('refuses a timeout that is none', () => {
    expect(() => mysqlStore(admin, { timeout: 0 })).toThrow(InvalidOptionError);
  });
});
