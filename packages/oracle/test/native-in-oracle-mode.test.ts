import { type OracleConnection, oracleSequence } from '@idsmith/oracle';
import { InvalidOptionError, NoSuchSequenceError, SequenceExhaustedError } from 'idsmith';
import { createConnection } from 'mysql2/promise';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, type StoreServer, shared } from '#services';

// MariaDB speaks Oracle's SQL with sql_mode=ORACLE.
await describeWith(['mariadb'], "sequences in Oracle's words, on MariaDB", () => {
  let server: StoreServer;
  let oracle: OracleConnection & { close(): Promise<void> };

  beforeAll(async () => {
    server = await shared('mariadb');
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
  afterAll(async () => {
    await oracle?.close();
    await server?.stop();
  });

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
