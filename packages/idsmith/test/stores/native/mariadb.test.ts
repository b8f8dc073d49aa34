import {
  mariadbSequence,
  memoryStore,
  NoSuchSequenceError,
  SequenceExhaustedError,
  Sequences,
} from 'idsmith';
import { createPool, type Pool } from 'mysql2/promise';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith, type StoreServer, shared } from '#services';

await describeWith(['mariadb'], 'sequences of MariaDB', () => {
  let server: StoreServer;
  let pool: Pool;

  beforeAll(async () => {
    server = await shared('mariadb');
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
});
