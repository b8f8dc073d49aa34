import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeWith, postgresTool, type ServerProcess, startPostgres } from '#services';
import { itIfLong } from '../../../../test/long.ts';
import { openStore } from '../../src/stores/open.ts';
import { postgresStore } from '../../src/stores/postgres/store.ts';
import { allRepeats, Minter, mintWhile, NO_REPEATS, repeats } from './minters.ts';

const run = promisify(execFile);

await describeWith(['postgres'], 'A PostgreSQL that goes back', () => {
  let primary: ServerProcess;
  let servers: ServerProcess[];
  let pools: pg.Pool[];
  beforeEach(async () => {
    primary = await startPostgres();
    servers = [primary];
    pools = [];
  });
  afterEach(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
    await Promise.all(servers.map((server) => server.stop()));
  });

  async function another(as: 'standby' | 'copy'): Promise<ServerProcess> {
    const server = await startPostgres({ from: { server: primary, as } });
    servers.push(server);
    return server;
  }

  function poolOf({ port }: ServerProcess): pg.Pool {
    const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres' });
    pool.on('error', () => {});
    pools.push(pool);
    return pool;
  }

  const minter = (server: ServerProcess, options = {}) => new Minter(postgresStore(poolOf(server), options));

  /** A process whose statements go to one server and then to both by chance, as through an address that is moved slowly. */
  function wanderer(server: ServerProcess): { wanderer: Minter; wander(to: ServerProcess): void } {
    const ways = [poolOf(server)];
    const query = (text: string, values: unknown[]) =>
      ways[Math.floor(Math.random() * ways.length)]!.query(text, values);
    return {
      wanderer: new Minter(postgresStore({ query })),
      wander: (to) => void ways.push(poolOf(to)),
    };
  }

  /** Sends all programs to another server, as a moved address does. */
  function moveTo(server: ServerProcess): void {
    for (const pool of pools) Object.assign(pool.options, { port: server.port });
  }

  async function sql(server: ServerProcess, ...statements: string[]): Promise<unknown[]> {
    const client = new pg.Client(server.url);
    await client.connect();
    try {
      let rows: unknown[] = [];
      for (const statement of statements) rows = (await client.query(statement)).rows.flatMap(Object.values);
      return rows;
    } finally {
      await client.end();
    }
  }

  async function until(server: ServerProcess, statement: string): Promise<void> {
    while ((await sql(server, statement))[0] !== true)
      await new Promise((resolve) => setTimeout(resolve, 20));
  }

  const caughtUp = () =>
    until(primary, 'SELECT bool_and(replay_lsn = pg_current_wal_lsn()) FROM pg_stat_replication');

  /** Lets a standby miss everything from now on. */
  async function detach(standby: ServerProcess): Promise<void> {
    await caughtUp();
    await sql(standby, `ALTER SYSTEM SET primary_conninfo = ''`, 'SELECT pg_reload_conf()');
    await until(standby, 'SELECT count(*) = 0 FROM pg_stat_wal_receiver');
  }

  it('is told from a hot standby, which cannot be a store', async () => {
    const standby = await another('standby');
    const store = postgresStore(poolOf(standby));
    const message =
      /the server is a hot standby, or default_transaction_read_only is on: a store needs the primary/;
    await expect(store.defineSequence({ name: 'orders' })).rejects.toThrow(message);
    await postgresStore(poolOf(primary)).defineSequence({ name: 'orders' });
    await caughtUp();
    await expect(store.allocate('orders', 1)).rejects.toThrow(message);
    const readOnly = { code: 'STORE', reason: 'READ_ONLY' };
    await expect(store.allocate('orders', 1)).rejects.toThrow(expect.objectContaining(readOnly));
  });

  it('is noticed when an asynchronous standby is promoted: 0 repeats, and a warning before', async () => {
    const warnings: unknown[] = [];
    const listen = (warning: { code?: string }) => warnings.push(warning.code);
    process.on('warning', listen);
    const standby = await another('standby');
    const survivor = await minter(primary).acquire();
    await survivor.store.defineSequence({ name: 'orders', blockSize: 10 });
    await survivor.take(5);
    await survivor.log(3);
    survivor.mint(100);
    await detach(standby);
    const forgotten = await minter(primary).acquire();
    for (const each of [survivor, forgotten]) {
      await each.take(30);
      each.mint(1000);
    }
    await forgotten.begin();
    for (const each of [survivor, forgotten]) await each.log(30);
    await primary.kill();
    moveTo(standby);
    await sql(standby, 'SELECT pg_promote()');
    const newcomer = minter(standby);
    const all = [survivor, forgotten, newcomer];
    await Promise.all(all.map((each) => each.take(10)));
    for (const each of [newcomer, survivor]) await each.begin();
    for (const each of [survivor, newcomer, forgotten]) await each.log(30);
    await mintWhile([survivor, forgotten], newcomer.acquire());
    for (const each of all) each.mint(1000);
    expect(newcomer.numbers.length).toBe(100);
    expect(newcomer.flakes.length).toBe(1000);
    expect(allRepeats(all)).toEqual(NO_REPEATS);
    expect(all.flatMap(({ store }) => store.warnings?.()).join()).toContain('lost acknowledged writes');
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', listen);
    expect(warnings).toContain('STORE_ASYNC_STANDBYS');
    await Promise.all(all.map((each) => each.end()));
  });

  itIfLong(
    'is not used beside the standby that was promoted by a process that has seen that one',
    async () => {
      const standby = await another('standby');
      const { wanderer: lost, wander } = wanderer(primary);
      const loyal = await minter(primary).acquire();
      await loyal.store.defineSequence({ name: 'orders', blockSize: 10 });
      await lost.acquire();
      for (const each of [lost, loyal]) await each.take(5);
      await detach(standby);
      for (const each of [lost, loyal]) await each.take(30);
      await sql(standby, 'SELECT pg_promote()');
      wander(standby);
      const newcomer = minter(standby);
      const all = [lost, loyal, newcomer];
      await newcomer.take(10);
      // The old primary is not moved on: it would meet the numbers of the new one.
      const position = () => sql(primary, `SELECT next_block_start FROM id_sequences WHERE name = 'orders'`);
      const before = Number(await position());
      await lost.take(60);
      expect(lost.errors).toContain('STORE_WENT_BACK');
      expect(Number(await position())).toBeLessThan(before + 1000);
      // Those who know only the old primary use up what the jump has left out.
      await Promise.all(all.map((each) => each.take(30)));
      expect(repeats(...all.map(({ numbers }) => numbers))).toBe(0);
      expect(repeats(...all.map(({ invoices }) => invoices))).toBe(0);
      await mintWhile([lost], newcomer.acquire());
      const until = Date.now() + 20_000;
      const passed = async () => {
        while (Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 100));
      };
      await mintWhile([lost, newcomer], passed());
      expect(newcomer.flakes.length).toBeGreaterThan(1000);
      expect(repeats(lost.flakes, newcomer.flakes)).toBe(0);
      await Promise.all(all.map((each) => each.end()));
    },
  );

  it('lets holders mint without a gap when a promotion has lost nothing', async () => {
    const standby = await another('standby');
    const holder = await minter(primary).acquire();
    await holder.store.defineSequence({ name: 'orders', blockSize: 10 });
    await holder.take(2);
    await caughtUp();
    const move = async () => {
      // An orderly end sends everything to the standby.
      await primary.shutdown();
      moveTo(standby);
      await sql(standby, 'SELECT pg_promote()');
      const { until } = holder.lease;
      while (holder.lease.until === until) await new Promise((resolve) => setTimeout(resolve, 50));
    };
    await mintWhile([holder], move());
    await holder.take(2);
    expect(holder.errors).toEqual([]);
    expect(allRepeats([holder])).toEqual(NO_REPEATS);
    await holder.end();
  });

  it('neither waits nor jumps where failovers are said to lose nothing', async () => {
    const standby = await another('standby');
    const holder = await minter(primary, { losslessFailover: true }).acquire();
    await holder.store.defineSequence({ name: 'orders', blockSize: 10 });
    await holder.take(1);
    await caughtUp();
    await primary.shutdown();
    moveTo(standby);
    await sql(standby, 'SELECT pg_promote()');
    const newcomer = new Minter(await openStore(`${standby.url}?losslessFailover=true`));
    const before = Date.now();
    await newcomer.acquire();
    await newcomer.take(1);
    expect(newcomer.lease.from).toBeLessThan(before + 5000);
    expect(newcomer.numbers[0]).toBe(11n);
    await Promise.all([holder.end(), newcomer.end()]);
  });

  it('is noticed when a dump is restored over it', async () => {
    const tool = async (name: string, ...args: string[]) => run(await postgresTool(name), args);
    const survivor = await minter(primary).acquire();
    await survivor.store.defineSequence({ name: 'orders', blockSize: 10 });
    await survivor.take(5);
    const { stdout } = await tool('pg_dump', '--clean', '--if-exists', primary.url);
    const file = join(primary.dir, 'dump.sql');
    writeFileSync(file, stdout);
    const forgotten = await minter(primary).acquire();
    for (const each of [survivor, forgotten]) {
      await each.take(30);
      each.mint(1000);
    }
    await tool('psql', '--quiet', '--file', file, primary.url);
    const newcomer = minter(primary);
    const all = [survivor, forgotten, newcomer];
    await Promise.all(all.map((each) => each.take(10)));
    await mintWhile([survivor, forgotten], newcomer.acquire());
    for (const each of all) each.mint(1000);
    expect(newcomer.numbers.length).toBe(100);
    expect(allRepeats(all)).toEqual(NO_REPEATS);
    await Promise.all(all.map((each) => each.end()));
  });

  it('is another one to all alike when a dump is restored into another cluster: one jump, and 0 repeats', async () => {
    const tool = async (name: string, ...args: string[]) => run(await postgresTool(name), args);
    const other = await startPostgres({ isOther: true });
    servers.push(other);
    const old = [minter(primary), minter(primary)];
    await old[0]!.store.defineSequence({ name: 'orders', blockSize: 10 });
    await old[0]!.take(1);
    const file = join(primary.dir, 'dump.sql');
    writeFileSync(file, (await tool('pg_dump', primary.url)).stdout);
    // Lost. The first process has taken nothing since the dump, and remembers nothing that is missing.
    await old[1]!.take(3);
    await tool('psql', '--quiet', '--file', file, other.url);
    await primary.shutdown();
    moveTo(other);
    const all = [...old, minter(other)];
    for (let round = 0; round < 4; round++) for (const each of all) await each.take(1);
    expect(allRepeats(all)).toEqual(NO_REPEATS);
    const { next } = await all[2]!.store.describeSequence('orders');
    expect(Number(next)).toBeLessThan(25_000);
    await Promise.all(all.map((each) => each.end()));
  });

  itIfLong('is noticed by those who remember when a base backup is started as it is', async () => {
    const survivor = await minter(primary).acquire();
    await survivor.store.defineSequence({ name: 'orders', blockSize: 10 });
    await survivor.take(5);
    const copy = await another('copy');
    const forgotten = await minter(primary).acquire();
    const old = [survivor, forgotten];
    for (const each of old) {
      await each.take(30);
      each.mint(1000);
    }
    await primary.kill();
    moveTo(copy);
    const told = new Promise<void>((resolve) =>
      forgotten.lease.on('renewal-failed', (error) => {
        if ((error as { code?: unknown }).code === 'STORE_WENT_BACK') resolve();
      }),
    );
    for (const each of old) await each.take(10);
    expect(survivor.errors).toContain('STORE_WENT_BACK');
    expect(survivor.numbers.length).toBeGreaterThan(400);
    await mintWhile(old, told);
    const newcomer = minter(copy);
    await newcomer.take(10);
    await mintWhile(old, newcomer.acquire());
    const all = [...old, newcomer];
    for (const each of all) each.mint(1000);
    expect(newcomer.flakes.length).toBe(1000);
    expect(allRepeats(all)).toEqual(NO_REPEATS);
    await forgotten.end();
    await newcomer.end();
    await survivor.end();
  });

  it('is noticed by those who remember when an empty one takes its place', async () => {
    const holder = await minter(primary).acquire();
    await holder.store.defineSequence({ name: 'orders', blockSize: 10 });
    await holder.take(5);
    holder.mint(1000);
    const codes: unknown[] = [];
    holder.lease.on('renewal-failed', (error) => codes.push((error as { code?: unknown }).code));
    const empty = await startPostgres();
    servers.push(empty);
    await primary.kill();
    moveTo(empty);
    // Nobody has made the tables.
    await expect.poll(() => codes, { timeout: 60_000 }).toContain('STORE_WENT_BACK');
    const newcomer = minter(empty);
    await newcomer.store.defineSequence({ name: 'orders', blockSize: 10 });
    await newcomer.store.listLeases('nodes');
    const { until } = holder.lease;
    // The holder's next renewal makes the namespace wait.
    const floor = async () =>
      Number(await sql(empty, "SELECT fence FROM idsmith_leases WHERE namespace = 'nodes' AND id = -1"));
    await expect.poll(floor, { timeout: 60_000 }).toBeGreaterThanOrEqual(until);
    await holder.take(1);
    await newcomer.take(10);
    await mintWhile([holder], newcomer.acquire());
    newcomer.mint(1000);
    expect(newcomer.lease.from).toBeGreaterThanOrEqual(until);
    expect(repeats(holder.numbers, newcomer.numbers)).toBe(0);
    expect(repeats(holder.flakes, newcomer.flakes)).toBe(0);
    await Promise.all([holder.end(), newcomer.end()]);
  });
});
