import { oracleSequence } from '@idsmith/oracle';
import { memoryStore, SequenceExhaustedError, Sequences } from 'idsmith';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { drawWhile, INCREMENTS, overlaps } from '../../idsmith/test/stores/native/support/altering.ts';

// oracle://user:password@host:1521/service: an Oracle server of your own, in which sequences and synonyms are made and
// dropped. The user needs CREATE SEQUENCE, CREATE SYNONYM, CREATE PUBLIC SYNONYM and DROP PUBLIC SYNONYM.
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
    await run('CREATE SEQUENCE idsmith_pooled_seq INCREMENT BY 50 START WITH 1000');
    await run('CREATE SEQUENCE idsmith_altered_seq INCREMENT BY 10 NOCACHE');
    await run('CREATE SYNONYM idsmith_private_seq FOR idsmith_orders_seq');
    await run('CREATE PUBLIC SYNONYM idsmith_public_seq FOR idsmith_private_seq');
  });
  afterAll(async () => {
    await run('DROP PUBLIC SYNONYM idsmith_public_seq');
    await run('DROP SYNONYM idsmith_private_seq');
    for (const name of ['orders', 'short', 'large', 'pooled', 'altered'])
      await run(`DROP SEQUENCE idsmith_${name}_seq`);
    await pool?.close();
  });

  it.each(['private', 'public'])('is found by a %s synonym', async (kind) => {
    expect((await oracleSequence(pool, `idsmith_${kind}`).allocate(1)).count).toBe(50);
    const one = await oracleSequence(pool, `idsmith_${kind}`, { optimizer: 'none' }).allocate(1);
    expect(one.count).toBe(1);
  });

  it('gives its start alone with optimizer pooled, and then blocks up to each value', async () => {
    const source = () => oracleSequence(pool, 'idsmith_pooled', { optimizer: 'pooled', initialValue: 1000 });
    expect([await source().allocate(1), await source().allocate(1)]).toEqual([
      { first: 1000n, step: 1, count: 1 },
      { first: 1001n, step: 1, count: 50 },
    ]);
  });

  it('gives blocks that do not overlap while it is altered, with optimizer pooled', async () => {
    const altering = async () => {
      for (const increment of INCREMENTS)
        await run(`ALTER SEQUENCE idsmith_altered_seq INCREMENT BY ${increment}`);
    };
    const options = { optimizer: 'pooled', initialValue: 1 } as const;
    const allocate = () => oracleSequence(pool, 'idsmith_altered', options).allocate(1);
    expect(overlaps(await drawWhile(allocate, altering()))).toEqual([]);
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
