import { mariadbSequence, postgresSequence, StoreError } from 'idsmith';
import { createPool, type Pool as MariadbPool, type RowDataPacket } from 'mysql2/promise';
import { Pool as PostgresPool } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, type StoreServer, shared } from '#services';
import { drawWhile, INCREMENTS, overlaps } from './support/altering.ts';

await describeWith(['postgres'], 'a sequence of PostgreSQL that is altered while it is used', () => {
  let server: StoreServer;
  let pool: PostgresPool;

  beforeAll(async () => {
    server = await shared('postgres');
    pool = new PostgresPool({ connectionString: server.url });
    pool.on('error', () => {});
  });
  afterAll(async () => {
    await pool?.end();
    await server?.stop();
  });

  /** ALTER SEQUENCE shuts out everybody who draws until the transaction ends. */
  async function alter(name: string, increment: number, restart: boolean): Promise<void> {
    await pool.query(`DO $$ BEGIN
      ALTER SEQUENCE ${name} CACHE 1;
      EXECUTE (SELECT format('ALTER SEQUENCE ${name} INCREMENT BY ${increment} ${restart ? 'RESTART WITH %s' : ''}',
        s.last_value + CASE WHEN s.is_called THEN p.increment ELSE 0 END)
        FROM ${name} s, pg_sequence_parameters('${name}'::regclass) p);
    END $$`);
  }

  it.each([
    ['pooled-lo', true],
    ['pooled', false],
  ] as const)('gives blocks that do not overlap, with optimizer %s', async (optimizer, restart) => {
    const name = `raced_${restart}_seq`;
    await pool.query(`CREATE SEQUENCE ${name} INCREMENT BY 10`);
    const altering = async () => {
      for (const increment of INCREMENTS) await alter(name, increment, restart);
    };
    const allocate = () => postgresSequence(pool, 'x', { sequenceName: name, optimizer }).allocate(1);
    expect(overlaps(await drawWhile(allocate, altering()))).toEqual([]);
  });

  it('is read with the increment that the value was taken with, also when the statement began before', async () => {
    await pool.query('CREATE SEQUENCE waited_seq INCREMENT BY 100');
    const source = postgresSequence(pool, 'waited');
    await source.allocate(1);
    const client = await pool.connect();
    await client.query('BEGIN');
    await client.query('ALTER SEQUENCE waited_seq INCREMENT BY 10 RESTART WITH 201');
    const waiting = source.allocate(1);
    const isWaiting = `SELECT count(*)::int AS n FROM pg_locks WHERE NOT granted AND relation = 'waited_seq'::regclass`;
    await expect.poll(async () => (await pool.query(isWaiting)).rows[0].n).toBe(1);
    await client.query('COMMIT');
    client.release();
    expect([await waiting, await source.allocate(1)]).toEqual([
      { first: 201n, step: 1, count: 10 },
      { first: 211n, step: 1, count: 10 },
    ]);
  });

  it('whose blocks were made smaller without a restart goes on after the larger ones', async () => {
    await pool.query('CREATE SEQUENCE lowered_seq INCREMENT BY 100');
    const sources = [1, 2].map(() => postgresSequence(pool, 'lowered'));
    for (const source of sources) await source.allocate(1);
    await pool.query('ALTER SEQUENCE lowered_seq INCREMENT BY 30');
    // PostgreSQL goes on at 131, within the block 101 to 200.
    const blocks = [await sources[0]!.allocate(1), await sources[1]!.allocate(1)];
    expect(blocks).toEqual([
      { first: 201n, step: 1, count: 20 },
      { first: 221n, step: 1, count: 30 },
    ]);
  });

  it('whose blocks were made far smaller says how to restart it', async () => {
    await pool.query('CREATE SEQUENCE single_seq INCREMENT BY 1000');
    const source = postgresSequence(pool, 'single');
    await source.allocate(1);
    await pool.query('ALTER SEQUENCE single_seq INCREMENT BY 1');
    await expect(source.allocate(1)).rejects.toThrow('restart the sequence with 1001');
    await pool.query('ALTER SEQUENCE single_seq RESTART WITH 1001');
    expect(await source.allocate(1)).toEqual({ first: 1001n, step: 1, count: 1 });
  });

  it('that turns round is refused: its ids would come again', async () => {
    await pool.query('CREATE SEQUENCE turned_seq INCREMENT BY 10');
    const source = postgresSequence(pool, 'turned');
    await source.allocate(1);
    await pool.query('ALTER SEQUENCE turned_seq INCREMENT BY -10 MINVALUE -1000');
    await expect(source.allocate(1)).rejects.toThrow(StoreError);
    await expect(source.allocate(1)).rejects.toThrow('from 10 to -10');
  });

  it('that is restarted just above imported rows gives none of theirs, with optimizer pooled', async () => {
    await pool.query('CREATE SEQUENCE imported_seq INCREMENT BY 50');
    const source = postgresSequence(pool, 'imported', { optimizer: 'pooled' });
    await source.allocate(1);
    await pool.query('ALTER SEQUENCE imported_seq RESTART WITH 5000');
    expect([await source.allocate(1), await source.allocate(1)]).toEqual([
      { first: 5000n, step: 1, count: 1 },
      { first: 5001n, step: 1, count: 50 },
    ]);
  });

  it('that is restarted at its beginning gives its ids again, as was asked for', async () => {
    await pool.query('CREATE SEQUENCE truncated_seq INCREMENT BY 100');
    const source = postgresSequence(pool, 'truncated');
    for (let i = 0; i < 5; i++) await source.allocate(1);
    await pool.query('ALTER SEQUENCE truncated_seq INCREMENT BY 10 RESTART WITH 1');
    expect(await source.allocate(1)).toEqual({ first: 1n, step: 1, count: 10 });
  });
});

await describeWith(['mariadb'], 'a sequence of MariaDB that is altered while it is used', () => {
  let server: StoreServer;
  let pool: MariadbPool;

  beforeAll(async () => {
    server = await shared('mariadb');
    pool = createPool({ uri: server.url });
  });
  afterAll(async () => {
    await pool?.end();
    await server?.stop();
  });

  /** LOCK TABLES shuts out everybody who draws. */
  async function alter(name: string, increment: number, restart: boolean): Promise<void> {
    const connection = await pool.getConnection();
    await connection.query(`LOCK TABLES ${name} WRITE`);
    const [rows] = await connection.query<RowDataPacket[]>(
      `SELECT CAST(next_not_cached_value AS CHAR) AS next FROM ${name}`,
    );
    const again = restart ? `RESTART WITH ${BigInt(rows[0]!.next) + BigInt(increment)}` : '';
    await connection.query(`ALTER SEQUENCE ${name} INCREMENT BY ${increment} ${again}`);
    await connection.query('UNLOCK TABLES');
    connection.release();
  }

  it.each([
    ['pooled-lo', false],
    ['pooled', true],
  ] as const)('gives blocks that do not overlap, with optimizer %s', async (optimizer, restart) => {
    const name = `raced_${restart}_seq`;
    await pool.query(`CREATE SEQUENCE ${name} INCREMENT BY 10 CACHE 3`);
    const altering = async () => {
      for (const increment of INCREMENTS) await alter(name, increment, restart);
    };
    const allocate = () => mariadbSequence(pool, 'x', { sequenceName: name, optimizer }).allocate(1);
    expect(overlaps(await drawWhile(allocate, altering()))).toEqual([]);
  });

  it('is read with its increment of the moment, also in a transaction that began before', async () => {
    await pool.query('CREATE SEQUENCE snapshot_seq INCREMENT BY 50 NOCACHE');
    const connection = await pool.getConnection();
    await connection.query('START TRANSACTION WITH CONSISTENT SNAPSHOT');
    await pool.query('ALTER SEQUENCE snapshot_seq INCREMENT BY 7');
    expect(await mariadbSequence(connection, 'snapshot').allocate(1)).toEqual({
      first: 1n,
      step: 1,
      count: 7,
    });
    await connection.query('ROLLBACK');
    connection.release();
  });

  it('whose blocks were made larger without a restart gives none of the ids of smaller ones, with optimizer pooled', async () => {
    await pool.query('CREATE SEQUENCE raised_seq INCREMENT BY 50 NOCACHE');
    const source = mariadbSequence(pool, 'raised', { optimizer: 'pooled' });
    await source.allocate(1);
    await source.allocate(1);
    // MariaDB has counted the next value already: 101, one old increment after 51.
    await pool.query('ALTER SEQUENCE raised_seq INCREMENT BY 100');
    expect([await source.allocate(1), await source.allocate(1)]).toEqual([
      { first: 52n, step: 1, count: 50 },
      { first: 102n, step: 1, count: 100 },
    ]);
  });

  it('with INCREMENT BY 0, which follows the settings of the server, has no blocks but with optimizer none', async () => {
    await pool.query('CREATE SEQUENCE cluster_seq INCREMENT BY 0');
    await expect(mariadbSequence(pool, 'cluster').allocate(1)).rejects.toThrow('optimizer "none"');
    const source = mariadbSequence(pool, 'cluster', { optimizer: 'none' });
    expect((await source.allocate(1)).count).toBe(1);
  });
});
