import {
  InvalidOptionError,
  memoryStore,
  NoSuchSequenceError,
  postgresSequence,
  SequenceExhaustedError,
  Sequences,
  StoreError,
} from 'idsmith';
import { Pool } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, type StoreServer, shared } from '#services';

await describeWith(['postgres'], 'a sequence of PostgreSQL', () => {
  let server: StoreServer;
  let pool: Pool;

  beforeAll(async () => {
    server = await shared('postgres');
    pool = new Pool({ connectionString: server.url });
    pool.on('error', () => {});
  });
  afterAll(async () => {
    await pool?.end();
    await server?.stop();
  });

  const drawn = (source: ReturnType<typeof postgresSequence>, prefetch: number | 'adaptive' = 0) =>
    new Sequences(memoryStore()).get('orders', { source, prefetch });

  it('gives blocks of its increment, under the name and _seq', async () => {
    await pool.query('CREATE SEQUENCE orders_seq INCREMENT BY 50');
    const [one, two] = [
      await drawn(postgresSequence(pool, 'orders')),
      await drawn(postgresSequence(pool, 'orders')),
    ];
    expect([await one.next(), await two.next(), await one.next()]).toEqual([1n, 51n, 2n]);
    await one.batch(49);
    expect(one.take()).toBe(102n);
  });

  it('given twice is one source, unless client, name or options differ', async () => {
    await pool.query('CREATE SEQUENCE twice_seq INCREMENT BY 10');
    const sequences = new Sequences(memoryStore());
    const twice = () => postgresSequence(pool, 'twice', { sequenceName: 'twice_seq' });
    const first = await sequences.get('twice', { source: twice() });
    expect(await sequences.get('twice', { source: twice() })).toBe(first);
    const other = new Pool({ connectionString: server.url });
    for (const source of [
      postgresSequence(other, 'twice', { sequenceName: 'twice_seq' }),
      postgresSequence(pool, 'twice'),
      postgresSequence(pool, 'thrice', { sequenceName: 'twice_seq' }),
      postgresSequence(pool, 'twice', { sequenceName: 'twice_seq', optimizer: 'none' }),
      { allocate: twice().allocate },
    ])
      await expect(sequences.get('twice', { source })).rejects.toThrow('open with another source');
    await other.end();
    await sequences.close();
  });

  it('is shared by many without a repeated id', async () => {
    await pool.query('CREATE SEQUENCE shared_seq INCREMENT BY 10');
    const users = await Promise.all(
      Array.from({ length: 16 }, () => drawn(postgresSequence(pool, 'shared'), 'adaptive')),
    );
    const ids = (await Promise.all(users.map((user) => user.batch(500)))).flat();
    expect(new Set(ids).size).toBe(8000);
  });

  it('is found by another name, in another schema', async () => {
    await pool.query('CREATE SCHEMA billing');
    await pool.query('CREATE SEQUENCE billing."Invoice No" INCREMENT BY 5 START WITH 9007199254740993');
    const source = postgresSequence(pool, 'invoices', { sequenceName: 'billing."Invoice No"' });
    expect(await source.allocate(1)).toEqual({ first: 2n ** 53n + 1n, step: 1, count: 5 });
  });

  it('ends at MAXVALUE: a block that would pass it is not given', async () => {
    await pool.query('CREATE SEQUENCE short_seq INCREMENT BY 10 MAXVALUE 25');
    const sequence = await drawn(postgresSequence(pool, 'short'));
    expect((await sequence.batch(20)).at(-1)).toBe(20n);
    await expect(sequence.next()).rejects.toThrow(SequenceExhaustedError);
    await expect(sequence.next()).rejects.toThrow(SequenceExhaustedError);
  });

  it('gives its last id at 2^63 − 1', async () => {
    await pool.query('CREATE SEQUENCE last_seq INCREMENT BY 3 START WITH 9223372036854775805');
    const sequence = await drawn(postgresSequence(pool, 'last'));
    expect((await sequence.batch(3)).at(-1)).toBe(2n ** 63n - 1n);
    await expect(sequence.next()).rejects.toThrow(SequenceExhaustedError);
  });

  it('descends with a negative increment', async () => {
    await pool.query('CREATE SEQUENCE down_seq INCREMENT BY -4 MINVALUE -10 START WITH -1');
    const sequence = await drawn(postgresSequence(pool, 'down'));
    expect(await sequence.batch(8)).toEqual([-1n, -2n, -3n, -4n, -5n, -6n, -7n, -8n]);
    await expect(sequence.next()).rejects.toThrow(SequenceExhaustedError);
  });

  it('that does not answer in time is a StoreError', async () => {
    const source = postgresSequence({ query: () => new Promise(() => {}) }, 'silent', { timeout: 20 });
    await expect(source.allocate(1)).rejects.toThrow('no answer within 20 ms');
    expect(() => postgresSequence(pool, 'x', { timeout: 0 })).toThrow(InvalidOptionError);
  });

  it('is read by a statement of one’s own', async () => {
    await pool.query('CREATE SEQUENCE own_seq');
    const sql = `SELECT nextval('own_seq') * 100 AS next, 100 AS size`;
    expect(await postgresSequence(pool, 'own', { sql }).allocate(1)).toEqual({
      first: 100n,
      step: 1,
      count: 100,
    });
  });

  it('is not there, or is no sequence: NoSuchSequenceError', async () => {
    await pool.query('CREATE TABLE table_seq (id int)');
    for (const name of ['nothing', 'table'])
      await expect(postgresSequence(pool, name).allocate(1)).rejects.toThrow(NoSuchSequenceError);
    await expect(
      postgresSequence(pool, 'x', { sequenceName: 'no_schema.orders_seq' }).allocate(1),
    ).rejects.toThrow(NoSuchSequenceError);
  });

  it('refuses options that are none, and a statement that gives no increment', async () => {
    expect(() => postgresSequence(pool, '')).toThrow(InvalidOptionError);
    expect(() => postgresSequence(pool, 'x', { sequenceName: '' })).toThrow(InvalidOptionError);
    expect(() => postgresSequence(pool, 'x', { sql: 5 as never })).toThrow(InvalidOptionError);
    const twice = postgresSequence(pool, 'x', { sql: 'SELECT 1, 100' });
    await expect(twice.allocate(1)).rejects.toThrow('columns of different names');
    await expect(postgresSequence(pool, 'x', { sql: 'SELEC' }).allocate(1)).rejects.toThrow(StoreError);
  });
});
