import { InvalidOptionError, type LeaseRecord, StoreError } from 'idsmith';
import { leaseStoreCases, sequenceStoreCases } from 'idsmith/testing';
import { Client, Pool, type PoolConfig } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith, type ServerProcess, startPostgres } from '#services';
import type { PostgresClient } from '../../../src/stores/postgres/session.ts';
import { postgresStore } from '../../../src/stores/postgres/store.ts';

const RECORD: LeaseRecord = { id: 0, owner: 'a', epoch: 1, fence: 1000, expiresAt: 2000, label: 'host 1' };

await describeWith(['postgres'], 'the postgres store', () => {
  let server: ServerProcess;
  let pool: Pool;
  const pools: Pool[] = [];

  const newPool = (config: PoolConfig = {}) => {
    const made = new Pool({ connectionString: server.url, ...config });
    // Without a listener, the end of the server would be the end of this process.
    made.on('error', () => {});
    pools.push(made);
    return made;
  };

  /** Runs `work` with that many connections to a database of its own. */
  async function withConnections(count: number, work: (clients: Client[]) => Promise<void>): Promise<void> {
    const database = `db_${crypto.randomUUID().replaceAll('-', '')}`;
    await pool.query(`CREATE DATABASE ${database}`);
    const connectionString = server.url.replace(/postgres$/, database);
    const clients = Array.from({ length: count }, () => new Client({ connectionString }));
    await Promise.all(clients.map((client) => client.connect()));
    await work(clients).finally(() => Promise.all(clients.map((client) => client.end())));
  }

  beforeAll(async () => {
    server = await startPostgres();
    pool = newPool();
  });

  afterAll(async () => {
    await Promise.all(pools.map((made) => made.end()));
    await server?.stop();
  });

  describe.each(['read committed', 'serializable'])('at isolation level %s', (level) => {
    let store: ReturnType<typeof postgresStore>;
    beforeAll(() => {
      const escaped = level.replace(' ', '\\ ');
      store = postgresStore(newPool({ options: `-c default_transaction_isolation=${escaped}` }));
    });
    for (const { name, run } of leaseStoreCases(() => store)) it(name, run);
    for (const { name, run } of sequenceStoreCases(() => store)) it(name, run);
  });

  it('is set up by twenty at once on an empty database', async () => {
    await withConnections(20, async (clients) => {
      for (let round = 0; round < 10; round++) {
        const lists = clients.map((client) => postgresStore(client).listLeases('x'));
        expect((await Promise.all(lists)).flat()).toEqual([]);
        await clients[0]!.query('DROP TABLE idsmith_leases');
      }
    });
  });

  it('makes its table once, and not at all where it is', async () => {
    await withConnections(1, async ([client]) => {
      const texts: string[] = [];
      const watched: PostgresClient = {
        query: (text, values) => {
          texts.push(text);
          return client!.query(text, values);
        },
      };
      const created = () => texts.filter((text) => /^CREATE TABLE .*idsmith_leases/.test(text)).length;
      const store = postgresStore(watched);
      await Promise.all([store.listLeases('x'), store.listLeases('y')]);
      await store.listLeases('x');
      expect(created()).toBe(1);
      await postgresStore(watched).listLeases('x');
      expect(created()).toBe(1);
    });
  });

  it('looks at the marker of the schema once, for leases and sequences together', async () => {
    await withConnections(1, async ([client]) => {
      const first = postgresStore(client!);
      await first.listLeases('x');
      await first.defineSequence({ name: 'x' });
      const looks: string[] = [];
      const watched: PostgresClient = {
        query: (text, values) => {
          if (text.includes('idsmith_schema')) looks.push(text);
          return client!.query(text, values);
        },
      };
      const store = postgresStore(watched);
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
    await withConnections(1, async ([client]) => {
      const store = postgresStore(client!);
      await store.listLeases('x');
      await client!.query(`CREATE ROLE plain_${process.pid}`);
      await client!.query('REVOKE CREATE ON SCHEMA public FROM public');
      await client!.query(`GRANT SELECT, INSERT, UPDATE ON idsmith_leases TO plain_${process.pid}`);
      await client!.query(`SET ROLE plain_${process.pid}`);
      expect(await postgresStore(client!).swapLease('x', undefined, RECORD)).toBe(true);
    });
  });

  it('says which statement is missing if it may not make its table', async () => {
    await withConnections(1, async ([client]) => {
      const role = `poor_${process.pid}`;
      await client!.query(
        `CREATE ROLE ${role}; CREATE SCHEMA ${role}; GRANT USAGE ON SCHEMA ${role} TO ${role}`,
      );
      await client!.query(`SET search_path = ${role}; SET ROLE ${role}`);
      const failure = await postgresStore(client!)
        .listLeases('x')
        .catch((error) => error);
      expect(failure).toMatchObject({ code: 'STORE', reason: 'ACCESS_DENIED' });
      const [statement] = /CREATE TABLE .*$/s.exec(failure.message) ?? [];
      await client!.query(
        `RESET ROLE; ${statement}; GRANT SELECT, INSERT, UPDATE ON idsmith_leases TO ${role}`,
      );
      await client!.query(`SET ROLE ${role}`);
      expect(await postgresStore(client!).swapLease('x', undefined, RECORD)).toBe(true);
    });
  });

  it('has the clock of the server, in whatever time zone', async () => {
    const store = postgresStore(newPool({ options: '-c TimeZone=Asia/Kolkata' }));
    const before = Date.now();
    const now = await store.now!();
    expect(now).toBeGreaterThanOrEqual(before - 1000);
    expect(now).toBeLessThanOrEqual(Date.now() + 1000);
  });

  it('works again after the server was restarted, and after it was killed', async () => {
    const store = postgresStore(newPool());
    expect(await store.swapLease('restart', undefined, RECORD)).toBe(true);
    await server.restart();
    expect(await store.swapLease('restart', RECORD, { ...RECORD, epoch: 2 })).toBe(true);
    await server.kill();
    const failure = await store.listLeases('restart').catch((error) => error);
    expect(failure).toBeInstanceOf(StoreError);
    // The end of the server may be seen before the end of its idle connection, and the call be sent there.
    expect(failure.message).toMatch(
      /^postgres store: listing leases failed: .*(ECONNREFUSED|Connection terminated unexpectedly)/,
    );
    expect(failure.cause).toBeInstanceOf(Error);
    await server.restart();
    expect(await store.listLeases('restart')).toEqual([{ ...RECORD, epoch: 2 }]);
  });

  it('is set up by a later call if the first one failed', async () => {
    let broken = true;
    const store = postgresStore({
      query: (text, values) => (broken ? Promise.reject(new Error('away')) : pool.query(text, values)),
    });
    await expect(store.now!()).rejects.toThrow('postgres store: now failed: away');
    broken = false;
    expect(await store.listLeases('later')).toEqual([]);
  });

  it('repeats what was rolled back, and only that', async () => {
    const codes = ['40001', '40P01', '57014'];
    const store = postgresStore({
      query: async (text, values) => {
        const code = text.includes('UPDATE idsmith_leases') ? codes.shift() : undefined;
        if (code) throw Object.assign(new Error(`code ${code}`), { code });
        return pool.query(text, values);
      },
    });
    await store.swapLease('repeat', undefined, RECORD);
    await expect(store.swapLease('repeat', RECORD, RECORD)).rejects.toThrow('code 57014');
    expect(await store.swapLease('repeat', RECORD, RECORD)).toBe(true);
  });

  it('fails rather than round a number', async () => {
    const store = postgresStore(pool);
    await store.swapLease('large', undefined, RECORD);
    await pool.query(`UPDATE idsmith_leases SET epoch = 9007199254740993 WHERE namespace = 'large'`);
    await expect(store.listLeases('large')).rejects.toThrow(
      /listing leases failed: epoch is 9007199254740993/,
    );
  });

  it('refuses a namespace that it could not keep', async () => {
    const store = postgresStore(pool);
    await expect(store.listLeases('')).rejects.toThrow(InvalidOptionError);
    await expect(store.swapLease('a\0b', undefined, RECORD)).rejects.toThrow(InvalidOptionError);
  });

  it('leaves the pool open when it is closed', async () => {
    await postgresStore(pool).close();
    expect((await pool.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });
});
