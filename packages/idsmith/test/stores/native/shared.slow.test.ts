import { mariadbSequence, postgresSequence } from 'idsmith';
import { createPool, type Pool as MariadbPool, type RowDataPacket } from 'mysql2/promise';
import { Pool as PostgresPool } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith, type StoreServer, shared } from '#services';
import { repeated } from '../../support/unique.ts';
import { hibernatePooled } from './support/hibernate.ts';
import { idsOfMany, ours, PROGRAMS, randomOf, type SharedSequence } from './support/shared-sequence.ts';

const SEEDS = Array.from({ length: 12 }, (_, i) => i + 1);

await describeWith(['postgres'], 'a sequence of PostgreSQL that others draw from, too', () => {
  let server: StoreServer;
  let pool: PostgresPool;

  beforeAll(async () => {
    server = await shared('postgres');
    pool = new PostgresPool({ connectionString: server.url, max: 4 });
    pool.on('error', () => {});
  });
  afterAll(async () => {
    await pool?.end();
    await server?.stop();
  });

  sharingTests(async (name, start, size, rest) => {
    await pool.query(`CREATE SEQUENCE ${name} START WITH ${start} INCREMENT BY ${size} ${rest}`);
    return {
      draw: async () => {
        const { rows } = await pool.query<{ v: string }>(`SELECT nextval('${name}')::text AS v`);
        return BigInt(rows[0]!.v);
      },
      source: (options) => postgresSequence(pool, 'x', { ...options, sequenceName: name }),
    };
  });
});

await describeWith(['mariadb'], 'a sequence of MariaDB that others draw from, too', () => {
  let server: StoreServer;
  let pool: MariadbPool;

  beforeAll(async () => {
    server = await shared('mariadb');
    pool = createPool({ uri: server.url, connectionLimit: 4 });
  });
  afterAll(async () => {
    await pool?.end();
    await server?.stop();
  });

  sharingTests(async (name, start, size, rest) => {
    await pool.query(`CREATE SEQUENCE ${name} START WITH ${start} INCREMENT BY ${size} ${rest}`);
    return {
      draw: async () => {
        const [rows] = await pool.query<RowDataPacket[]>(`SELECT CAST(NEXT VALUE FOR ${name} AS CHAR) AS v`);
        return BigInt(rows[0]!.v);
      },
      source: (options) => mariadbSequence(pool, 'x', { ...options, sequenceName: name }),
    };
  });
});

type Create = (
  name: string,
  start: bigint,
  size: bigint,
  rest: string,
) => Promise<Pick<SharedSequence, 'draw' | 'source'>>;

function sharingTests(create: Create): void {
  let made = 0;
  const make = async (start: bigint, size: bigint, rest = ''): Promise<SharedSequence> => ({
    start,
    size,
    ...(await create(`shared_${++made}_seq`, start, size, rest)),
  });

  describe.each([
    ['pooled-lo', 'pooled-lo'],
    ['pooled', 'pooled'],
    ['none', 'pooled-lo'],
    ['none', 'pooled'],
  ] as const)('with optimizer %s beside programs that read it as %s', (optimizer, reading) => {
    it.each(SEEDS)('gives no id twice, seed %i', async (seed) => {
      const random = randomOf(seed);
      const size = BigInt([2, 10, 50, 1][random(4)]!);
      // EclipseLink's first block ends at the start.
      const start = size + BigInt(random(3) === 0 ? 9_007_199_254_740_990n : random(1000));
      const shared = await make(start, size, random(2) === 0 ? 'CACHE 7' : '');
      const ids = await idsOfMany(shared, { optimizer }, PROGRAMS[reading](shared), seed, 60);
      expect(repeated(ids.map(String))).toEqual([]);
    });
  });

  it('gives no id twice when all draw at the same time', async () => {
    const shared = await make(1n, 10n, 'MINVALUE -100');
    const source = () => shared.source({ optimizer: 'pooled' });
    const programs = [...PROGRAMS.pooled(shared), () => ours(source(), 0), () => ours(source(), 3)];
    const runs = [...programs, ...programs].map(async (start) => {
      const program = start();
      const ids: bigint[] = [];
      while (ids.length < 300) ids.push((await program.next()).value);
      return ids;
    });
    expect(repeated((await Promise.all(runs)).flat().map(String))).toEqual([]);
  });

  it("gives ids twice beside Hibernate's pooled unless it is told: the default reads values as bottoms", async () => {
    const shared = await make(1n, 50n);
    const hibernate = () => hibernatePooled(shared.draw, shared.size, shared.start);
    const ids = await idsOfMany(shared, {}, [hibernate], 1, 60);
    expect(repeated(ids.map(String))).not.toEqual([]);
  });

  it('takes its blocks as Hibernate does: the start alone, then everything up to each value', async () => {
    const shared = await make(1n, 50n);
    const pooled = () => shared.source({ optimizer: 'pooled' }).allocate(1);
    expect([await pooled(), await pooled(), await pooled()]).toEqual([
      { first: 1n, step: 1, count: 1 },
      { first: 2n, step: 1, count: 50 },
      { first: 52n, step: 1, count: 50 },
    ]);
  });

  it('does not touch ids below its start, where rows were before', async () => {
    const shared = await make(1000n, 50n);
    const source = shared.source({ optimizer: 'pooled' });
    expect([await source.allocate(1), await source.allocate(1)]).toEqual([
      { first: 1000n, step: 1, count: 1 },
      { first: 1001n, step: 1, count: 50 },
    ]);
  });

  it('descends with optimizer pooled, too', async () => {
    const shared = await make(-1n, -4n, 'MINVALUE -20 MAXVALUE -1');
    const source = shared.source({ optimizer: 'pooled' });
    expect([await source.allocate(1), await source.allocate(1)]).toEqual([
      { first: -1n, step: -1, count: 1 },
      { first: -2n, step: -1, count: 4 },
    ]);
  });

  it('gives a value as one id with optimizer none, whatever the increment and the blocks asked for', async () => {
    const shared = await make(5n, 50n);
    const source = shared.source({ optimizer: 'none' });
    expect([await source.allocate(1), await source.allocate(20)]).toEqual([
      { first: 5n, step: 1, count: 1 },
      { first: 55n, step: 1, count: 1 },
    ]);
  });

  it('gives the last id below MAXVALUE with optimizer pooled, and no id beyond', async () => {
    const shared = await make(1n, 10n, 'MAXVALUE 25');
    const source = shared.source({ optimizer: 'pooled' });
    await source.allocate(1);
    await source.allocate(1);
    expect(await source.allocate(1)).toEqual({ first: 12n, step: 1, count: 10 });
    await expect(source.allocate(1)).rejects.toMatchObject({ code: 'SEQUENCE_EXHAUSTED' });
  });

  it('starts a cycle over at MINVALUE, with nothing below it', async () => {
    const shared = await make(5n, 10n, 'MINVALUE 3 MAXVALUE 20 CYCLE');
    const source = shared.source({ optimizer: 'pooled' });
    await source.allocate(1);
    await source.allocate(1);
    expect(await source.allocate(1)).toEqual({ first: 3n, step: 1, count: 1 });
  });
}
