import { createConnection, createPool, type Pool } from 'mysql2/promise';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith, type ServerProcess, startMariadb } from '#services';
import { itIfLong } from '../../../../test/long.ts';
import { mysqlStore } from '../../src/stores/mysql/store.ts';
import { openStore } from '../../src/stores/open.ts';
import { allRepeats, Minter, mintWhile, NO_REPEATS, repeats } from './minters.ts';

await describeWith(['mariadb'], 'A MariaDB whose replica is promoted', () => {
  let primary: ServerProcess;
  let replica: ServerProcess;
  let pools: Pool[];
  beforeEach(async () => {
    [primary, replica] = await Promise.all([
      startMariadb({ args: ['--server-id=1', '--log-bin=bin'] }),
      startMariadb({ args: ['--server-id=2', '--log-bin=bin', '--log-slave-updates'] }),
    ]);
    pools = [];
    await sql(
      replica,
      `CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = ${primary.port}, MASTER_USER = 'root', MASTER_USE_GTID = slave_pos`,
      'START SLAVE',
    );
  });
  afterEach(async () => {
    await Promise.all(pools.map((pool) => pool.end()));
    await Promise.all([primary, replica].map((server) => server.stop()));
  });

  async function sql(server: ServerProcess, ...statements: string[]): Promise<unknown[]> {
    const client = await createConnection(server.url);
    try {
      let rows: unknown = [];
      for (const statement of statements) [rows] = await client.query(statement);
      return Array.isArray(rows) ? rows.flatMap((row) => Object.values(row as object)) : [];
    } finally {
      await client.end();
    }
  }

  /** A program whose address moves with `moveTo`. */
  function minter(server: ServerProcess): Minter {
    const pool = createPool({ host: '127.0.0.1', port: server.port, user: 'root', database: 'test' });
    pools.push(pool);
    return new Minter(mysqlStore(pool));
  }

  function moveTo(server: ServerProcess): void {
    for (const { pool } of pools as unknown as { pool: { config: { connectionConfig: object } } }[])
      Object.assign(pool.config.connectionConfig, { port: server.port });
  }

  async function caughtUp(): Promise<void> {
    const [position] = await sql(primary, 'SELECT @@gtid_binlog_pos');
    await sql(replica, `SELECT MASTER_GTID_WAIT('${position}', 60)`);
  }

  it('has one identity for all sessions when its server_id is set: one jump', async () => {
    const before = minter(primary);
    await before.store.defineSequence({ name: 'orders', blockSize: 10 });
    await before.take(2);
    await sql(primary, 'SET GLOBAL server_id = 7');
    // The sessions of the first process began before.
    const after = minter(primary);
    for (let round = 0; round < 5; round++) for (const each of [before, after]) await each.take(1);
    expect(allRepeats([before, after])).toEqual(NO_REPEATS);
    expect([...before.errors, ...after.errors]).toEqual([]);
    expect((await after.store.describeSequence('orders')).next).toBeLessThan(11_000n);
    await Promise.all([before.end(), after.end()]);
  });

  it('is noticed when the last writes are lost: 0 repeats', async () => {
    const survivor = await minter(primary).acquire();
    await survivor.store.defineSequence({ name: 'orders', blockSize: 10 });
    await survivor.take(5);
    await survivor.log(3);
    survivor.mint(100);
    await caughtUp();
    await sql(replica, 'STOP SLAVE');
    const forgotten = await minter(primary).acquire();
    for (const each of [survivor, forgotten]) {
      await each.take(30);
      each.mint(1000);
    }
    await forgotten.begin();
    for (const each of [survivor, forgotten]) await each.log(30);
    await primary.kill();
    moveTo(replica);
    const newcomer = minter(replica);
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
    await Promise.all(all.map((each) => each.end()));
  });

  /** Lets a program use the primary and then the replica, and starts the primary again. */
  async function failOver(): Promise<Minter> {
    const survivor = await minter(primary).acquire();
    await survivor.store.defineSequence({ name: 'orders', blockSize: 10 });
    await survivor.take(5);
    await caughtUp();
    await sql(replica, 'STOP SLAVE');
    await primary.shutdown();
    moveTo(replica);
    await survivor.take(5);
    await primary.start();
    return survivor;
  }

  /** Lets both programs use the replica, and goes back to the primary. */
  async function failBack(old: readonly Minter[]): Promise<void> {
    for (const each of old) {
      await each.take(30);
      each.mint(1000);
    }
    await replica.kill();
    moveTo(primary);
  }

  /** Gives the primary what the replica has, as when it was made anew from the replica. */
  async function copyBack(): Promise<void> {
    const exact = { supportBigNumbers: true, bigNumberStrings: true };
    const [from, to] = await Promise.all(
      [replica, primary].map(({ url: uri }) => createConnection({ uri, ...exact })),
    );
    for (const table of ['idsmith_leases', 'id_sequences', 'idsmith_pasts']) {
      const [rows] = await from!.query({ sql: `SELECT * FROM ${table}`, rowsAsArray: true });
      await to!.query(`DELETE FROM ${table}`);
      for (const row of rows as unknown[][]) await to!.query(`INSERT INTO ${table} VALUES (?)`, [row]);
    }
    await Promise.all([from!.end(), to!.end()]);
  }

  itIfLong(
    'is noticed when the first primary is promoted again, with what the replica had a while before',
    async () => {
      const survivor = await failOver();
      const forgotten = minter(replica);
      // A renewal is enough: what others claim after it, and lose, is noticed.
      const lineageAt = async (server: ServerProcess) =>
        String(await sql(server, `SELECT label FROM idsmith_leases WHERE namespace = 'nodes' AND id = -1`));
      const before = await lineageAt(primary);
      await expect.poll(() => lineageAt(replica), { timeout: 60_000 }).not.toBe(before);
      await copyBack();
      await mintWhile([survivor], forgotten.acquire());
      const old = [survivor, forgotten];
      await failBack(old);
      const newcomer = minter(primary);
      await newcomer.take(10);
      const { until } = forgotten.lease;
      await mintWhile(old, newcomer.acquire());
      expect(newcomer.lease.from).toBeGreaterThanOrEqual(until);
      const all = [...old, newcomer];
      for (const each of all) await each.take(10);
      newcomer.mint(1000);
      expect(newcomer.flakes.length).toBe(1000);
      expect(allRepeats(all)).toEqual(NO_REPEATS);
      await Promise.all(all.map((each) => each.end()));
    },
  );

  itIfLong('is noticed by those who remember when the first primary comes back as it was', async () => {
    const survivor = await failOver();
    const forgotten = minter(replica);
    await mintWhile([survivor], forgotten.acquire());
    const old = [survivor, forgotten];
    await failBack(old);
    const told = new Promise<void>((resolve) =>
      forgotten.lease.on('renewal-failed', (error) => {
        if ((error as { code?: unknown }).code === 'STORE_WENT_BACK') resolve();
      }),
    );
    for (const each of old) await each.take(10);
    expect(survivor.errors).toContain('STORE_WENT_BACK');
    await mintWhile(old, told);
    const newcomer = minter(primary);
    await newcomer.take(10);
    await mintWhile(old, newcomer.acquire());
    newcomer.mint(1000);
    expect(newcomer.flakes.length).toBe(1000);
    const all = [...old, newcomer];
    expect(allRepeats(all)).toEqual(NO_REPEATS);
    await Promise.all(all.map((each) => each.end()));
  });

  it('lets holders mint without a gap when nothing is lost', async () => {
    const holder = await minter(primary).acquire();
    const move = async () => {
      await caughtUp();
      await primary.shutdown();
      moveTo(replica);
      const { until } = holder.lease;
      while (holder.lease.until === until) await new Promise((resolve) => setTimeout(resolve, 50));
    };
    await mintWhile([holder], move());
    expect(holder.errors).toEqual([]);
    expect(repeats(holder.flakes)).toBe(0);
    await holder.end();
  });

  it('neither waits nor jumps where failovers are said to lose nothing', async () => {
    const url = ({ url }: ServerProcess) => `${url}?losslessFailover=true`;
    const holder = await new Minter(await openStore(url(primary))).acquire();
    await holder.store.defineSequence({ name: 'orders', blockSize: 10 });
    await holder.take(1);
    await caughtUp();
    await primary.shutdown();
    const newcomer = new Minter(await openStore(url(replica)));
    const before = Date.now();
    await newcomer.acquire();
    await newcomer.take(1);
    expect(newcomer.lease.from).toBeLessThan(before + 5000);
    expect(newcomer.numbers[0]).toBe(11n);
    await Promise.all([holder.end(), newcomer.end()]);
  });
});

await describeWith(['mariadb'], 'A MariaDB that acknowledges writes', () => {
  let server: ServerProcess;
  beforeAll(async () => {
    server = await startMariadb({ args: ['--server-id=1', '--log-bin=bin'] });
  });
  afterAll(() => server?.stop());

  /** The warnings of a process that uses leases and sequences of the server. */
  async function warningsWith(flush: number, settings = '', syncBinlog = 1): Promise<string[]> {
    const client = await createConnection(server.url);
    await client.query(`SET GLOBAL innodb_flush_log_at_trx_commit = ${flush}`);
    await client.query(`SET GLOBAL sync_binlog = ${syncBinlog}`);
    await client.end();
    const found: string[] = [];
    const listen = ({ code, message }: Error & { code?: string }) => void found.push(`${code} ${message}`);
    process.on('warning', listen);
    const store = await openStore(server.url + settings);
    await store.listLeases('flushed');
    await store.listSequences();
    await store.close();
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', listen);
    return found;
  }

  it.each([
    [0, 'a crash of the server loses'],
    [2, 'a crash of its machine loses'],
  ])('before it writes them to the disk is told of once: %i', async (flush, text) => {
    for (const settings of ['', '?losslessFailover=true']) {
      const warnings = await warningsWith(flush, settings);
      expect(warnings).toEqual([expect.stringContaining(text)]);
      expect(warnings[0]).toMatch(
        /^STORE_DELAYED_FLUSH .*innodb_flush_log_at_trx_commit = [02]: .*Set innodb_flush_log_at_trx_commit = 1/,
      );
    }
  });

  it.each([1, 3])('once they are on the disk gives no warning: %i', async (flush) => {
    expect(await warningsWith(flush)).toEqual([]);
  });

  it.each([0, 100])(
    'before its binary log is on the disk is told of once: sync_binlog = %i',
    async (sync) => {
      for (const settings of ['', '?losslessFailover=true'])
        expect(await warningsWith(1, settings, sync)).toEqual([
          expect.stringMatching(`^STORE_DELAYED_FLUSH .*sync_binlog = ${sync}: .*Set sync_binlog = 1`),
        ]);
      // One is enough, and with 3 the commit itself is on the disk.
      expect(await warningsWith(2, '', sync)).toEqual([expect.not.stringContaining('sync_binlog')]);
      expect(await warningsWith(3, '', sync)).toEqual([]);
    },
  );
});
