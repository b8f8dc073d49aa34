import { memoryStore, oracleSequence, SequenceExhaustedError, Sequences } from 'idsmith';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

// oracle://user:password@host:1521/service: an Oracle server of your own, in which three sequences are made and dropped.
const { ORACLE_URL } = process.env;

describe.runIf(ORACLE_URL)('a sequence of Oracle', () => {
  let pool: import('oracledb').Pool;

  const run = async (sql: string) => {
    const connection = await pool.getConnection();
    await connection.execute(sql).finally(() => connection.close());
  };

  beforeAll(async () => {
    const { default: oracledb } = await import('oracledb');
    const { username, password, host, pathname } = new URL(ORACLE_URL!);
    pool = await oracledb.createPool({
      user: decodeURIComponent(username),
      password: decodeURIComponent(password),
      connectString: `${host}${pathname}`,
    });
    await run('CREATE SEQUENCE idsmith_orders_seq INCREMENT BY 50');
    await run('CREATE SEQUENCE idsmith_short_seq INCREMENT BY 10 MAXVALUE 25 NOCACHE');
    await run('CREATE SEQUENCE idsmith_large_seq INCREMENT BY 5 START WITH 9007199254740993');
  });
  afterAll(async () => {
    for (const name of ['orders', 'short', 'large']) await run(`DROP SEQUENCE idsmith_${name}_seq`);
    await pool?.close();
  });

  it('gives blocks of its increment to many, without a repeated id', async () => {
    const users = await Promise.all(
      Array.from({ length: 8 }, () =>
        new Sequences(memoryStore()).get('x', { source: oracleSequence(pool, 'idsmith_orders') }),
      ),
    );
    const ids = (await Promise.all(users.map((user) => user.batch(500)))).flat();
    expect(new Set(ids).size).toBe(4000);
  });

  it('is exact past 2^53', async () => {
    expect((await oracleSequence(pool, 'idsmith_large').allocate(1)).first).toBe(2n ** 53n + 1n);
  });

  it('ends at MAXVALUE', async () => {
    const source = oracleSequence(pool, 'idsmith_short');
    await source.allocate(1);
    await source.allocate(1);
    await expect(source.allocate(1)).rejects.toThrow(SequenceExhaustedError);
  });
});
