import {
  InvalidOptionError,
  mariadbSequence,
  memoryStore,
  NoSuchSequenceError,
  type OracleConnection,
  oracleSequence,
  SequenceExhaustedError,
  Sequences,
} from 'idsmith';
import { createConnection, createPool, type Pool } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith, type ServerProcess, startMariadb } from '#services';

await describeWith(['mariadb'], 'sequences of MariaDB', () => {
  let server: ServerProcess;
  let pool: Pool;

  beforeAll(async () => {
    server = await startMariadb();
    pool = createPool({ uri: server.url });
  });
  afterAll(async () => {
    await pool?.end();
    await server?.stop();
  });

  describe('in its own words', () => {
    const drawn = (name: string, prefetch: number | 'adaptive' = 0) =>
      new Sequences(memoryStore()).get(name, { source: mariadbSequence(pool, name), prefetch });

    it('give blocks of their increment, under the name and _seq', async () => {
      await pool.query('CREATE SEQUENCE orders_seq INCREMENT BY 50');
      const [one, two] = [await drawn('orders'), await drawn('orders')];
      expect([await one.next(), await two.next(), await one.next()]).toEqual([1n, 51n, 2n]);
    });

    it('are shared by many without a repeated id', async () => {
      await pool.query('CREATE SEQUENCE shared_seq INCREMENT BY 10');
      const users = await Promise.all(Array.from({ length: 16 }, () => drawn('shared', 'adaptive')));
      const ids = (await Promise.all(users.map((user) => user.batch(500)))).flat();
      expect(new Set(ids).size).toBe(8000);
    });

    it('are found by another name, in another database, and exact past 2^53', async () => {
      await pool.query('CREATE DATABASE billing');
      await pool.query('CREATE SEQUENCE billing.`Invoice No` INCREMENT BY 5 START WITH 9007199254740993');
      const source = mariadbSequence(pool, 'invoices', { sequenceName: 'billing.Invoice No' });
      expect(await source.allocate(1)).toEqual({ first: 2n ** 53n + 1n, step: 1, count: 5 });
    });

    it('end at MAXVALUE: a block that would pass it is not given', async () => {
      await pool.query('CREATE SEQUENCE short_seq INCREMENT BY 10 MAXVALUE 25');
      const sequence = await drawn('short');
      expect((await sequence.batch(20)).at(-1)).toBe(20n);
      await expect(sequence.next()).rejects.toThrow(SequenceExhaustedError);
      await expect(sequence.next()).rejects.toThrow(SequenceExhaustedError);
    });

    it('descend with a negative increment', async () => {
      await pool.query('CREATE SEQUENCE down_seq INCREMENT BY -4 MINVALUE -10 MAXVALUE -1 START WITH -1');
      expect(await (await drawn('down')).batch(5)).toEqual([-1n, -2n, -3n, -4n, -5n]);
    });

    it('are read by a statement of one’s own', async () => {
      await pool.query('CREATE SEQUENCE own_seq');
      const source = mariadbSequence(pool, 'own', { sql: 'SELECT NEXT VALUE FOR own_seq * 100, 100' });
      expect(await source.allocate(1)).toEqual({ first: 100n, step: 1, count: 100 });
    });

    it('are not there, or are none: NoSuchSequenceError', async () => {
      await pool.query('CREATE TABLE table_seq (id INT)');
      for (const name of ['nothing', 'table'])
        await expect(mariadbSequence(pool, name).allocate(1)).rejects.toThrow(NoSuchSequenceError);
    });
  });

  describe("in Oracle's words, which it speaks with sql_mode=ORACLE", () => {
    let oracle: OracleConnection & { close(): Promise<void> };

    beforeAll(async () => {
      const connection = await createConnection({ uri: server.url });
      await connection.query(`SET sql_mode = 'ORACLE'`);
      await connection.query('CREATE DATABASE "SHOP"');
      await connection.query('USE "SHOP"');
      await connection.query('CREATE SEQUENCE "ORDERS_SEQ" INCREMENT BY 50');
      await connection.query('CREATE SEQUENCE "SHORT_SEQ" INCREMENT BY 10 MAXVALUE 25');
      await connection.query('CREATE SEQUENCE "LARGE_SEQ" INCREMENT BY 5 START WITH 9007199254740993');
      // Oracle's dictionary, with the columns that are asked for.
      const listed = ['ORDERS_SEQ', 'SHORT_SEQ', 'LARGE_SEQ'].map(
        (name) => `SELECT 'SHOP' AS sequence_owner, '${name}' AS sequence_name, increment AS increment_by,
          minimum_value AS min_value, maximum_value AS max_value FROM "${name}"`,
      );
      await connection.query(`CREATE VIEW all_sequences AS ${listed.join(' UNION ALL ')}`);
      await connection.query(`CREATE TABLE all_synonyms (owner VARCHAR2(128), synonym_name VARCHAR2(128),
        table_owner VARCHAR2(128), table_name VARCHAR2(128), db_link VARCHAR2(128))`);
      await connection.query(`INSERT INTO all_synonyms VALUES
        ('PUBLIC', 'EVERYBODYS_SEQ', 'SHOP', 'MIDDLE_SEQ', NULL), ('SHOP', 'MIDDLE_SEQ', 'SHOP', 'ORDERS_SEQ', NULL)`);
      await connection.query(`CREATE FUNCTION SYS_CONTEXT(a VARCHAR2(30), b VARCHAR2(30)) RETURN VARCHAR2(30) AS
        BEGIN RETURN 'SHOP'; END`);
      oracle = {
        // The placeholders are all that differs.
        execute: async (sql, binds) => ({
          rows: (
            await connection.query({ sql: sql.replace(/:\d/g, '?'), rowsAsArray: true }, binds)
          )[0] as unknown[],
        }),
        close: () => connection.end(),
      };
    });
    afterAll(() => oracle?.close());

    it('give blocks of their increment, exact past 2^53', async () => {
      const source = oracleSequence(oracle, 'orders');
      expect(await source.allocate(1)).toEqual({ first: 1n, step: 1, count: 50 });
      expect(await source.allocate(1)).toEqual({ first: 51n, step: 1, count: 50 });
      expect((await oracleSequence(oracle, 'large').allocate(1)).first).toBe(2n ** 53n + 1n);
    });

    it.each(['orders_seq', 'shop.Orders_Seq', 'everybodys_seq', 'shop.middle_seq'])(
      'are found by another name, with a schema and through synonyms: %s',
      async (sequenceName) => {
        expect((await oracleSequence(oracle, 'x', { sequenceName }).allocate(1)).count).toBe(50);
      },
    );

    it.each(['nothing_seq', 'oracle.orders_seq', 'oracle.everybodys_seq'])(
      'are not there: NoSuchSequenceError for %s',
      async (sequenceName) => {
        const source = oracleSequence(oracle, 'x', { sequenceName });
        await expect(source.allocate(1)).rejects.toThrow(NoSuchSequenceError);
      },
    );

    it('give single ids with optimizer none, and blocks up to each value with optimizer pooled', async () => {
      const start = (await oracleSequence(oracle, 'orders').allocate(1)).first;
      // MariaDB tells upper case from lower case in names, which Oracle does not.
      const options = { sequenceName: 'ORDERS_SEQ', optimizer: 'none' } as const;
      const none = await oracleSequence(oracle, 'x', options).allocate(1);
      const pooled = oracleSequence(oracle, 'orders', { optimizer: 'pooled', initialValue: 1 });
      expect([none, await pooled.allocate(1)]).toEqual([
        { first: start + 50n, step: 1, count: 1 },
        { first: start + 51n, step: 1, count: 50 },
      ]);
    });

    it('are drawn from through a pool, which gets its connection back', async () => {
      let [opened, closed] = [0, 0];
      const close = async () => void closed++;
      const getConnection = async () => {
        opened++;
        return { ...oracle, close };
      };
      const source = oracleSequence({ getConnection }, 'orders');
      expect((await source.allocate(1)).count).toBe(50);
      expect(closed).toBe(opened);
    });

    it('end at MAXVALUE', async () => {
      const source = oracleSequence(oracle, 'short');
      await source.allocate(1);
      await source.allocate(1);
      await expect(source.allocate(1)).rejects.toThrow(SequenceExhaustedError);
    });

    it.each([
      [8004, SequenceExhaustedError],
      [2289, NoSuchSequenceError],
    ])('ORA-%s is %o', async (errorNum, expected) => {
      const failing = { execute: () => Promise.reject(Object.assign(new Error('ORA'), { errorNum })) };
      await expect(oracleSequence(failing, 'orders').allocate(1)).rejects.toThrow(expected);
    });

    it('refuse names that would have to be quoted, and clients that are none', () => {
      expect(() => oracleSequence(oracle, 'a b')).toThrow(InvalidOptionError);
      expect(() => oracleSequence(oracle, 'x', { sequenceName: 'x; DROP TABLE y' })).toThrow(
        InvalidOptionError,
      );
      expect(() => oracleSequence({} as never, 'x')).toThrow('oracledb');
    });
  });
});
