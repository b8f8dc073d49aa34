import { gapless } from 'idsmith';
import { series } from 'idsmith/sql';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '#services';
import { DATABASES, type TestDatabase } from './databases.ts';

const fresh = (kind: string) => `${kind} ${crypto.randomUUID()}`;

for (const [title, needs, start] of DATABASES)
  await describeWith(needs, `Calls at once on one connection of ${title}`, () => {
    let db: TestDatabase;
    beforeAll(async () => {
      db = await start();
      await db.store.listSequences();
    });
    afterAll(() => db?.end());

    /** Every object that stands for a transaction's connection, some of them twice. */
    const mixture = ({ client, others }: Awaited<ReturnType<TestDatabase['begin']>>) => [
      client,
      ...others(),
      client,
      ...others(),
    ];

    it('give consecutive numbers of a series, through any mixture of objects', async () => {
      const invoices = series(fresh('series'), { format: '{n}' });
      let next = 1;
      // The first transaction makes the series.
      for (let i = 0; i < 3; i++) {
        const transaction = await db.begin();
        const numbers = await Promise.all(
          mixture(transaction).map((object) => invoices.next({ in: object })),
        );
        expect(numbers.map(Number).sort((a, b) => a - b)).toEqual(numbers.map(() => next++));
        await transaction.commit();
      }
    });

    it('give consecutive gapless numbers, through any mixture of objects', async () => {
      const name = fresh('numbers');
      await db.store.defineSequence({ name, blockSize: 7 });
      let next = 1;
      for (let i = 0; i < 3; i++) {
        const transaction = await db.begin();
        const numbers = await Promise.all(mixture(transaction).map((object) => gapless(name, object)));
        expect(numbers.map(Number).sort((a, b) => a - b)).toEqual(numbers.map(() => next++));
        await transaction.commit();
      }
    });

    it('take no number that does not fit, and all that do', async () => {
      const name = fresh('series');
      const narrow = series(name, { format: '{n:1}', start: 8 });
      const transaction = await db.begin();
      const outcomes = await Promise.allSettled(
        mixture(transaction).map((object) => narrow.next({ in: object })),
      );
      const given = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []));
      expect(given.sort()).toEqual(['8', '9']);
      await expect(narrow.next({ in: transaction.client })).rejects.toThrow('add a + to its width');
      expect(await series(name, { format: '{n:1+}' }).next({ in: transaction.client })).toBe('10');
      await transaction.commit();
    });

    it('void a number once', async () => {
      const codes = series(fresh('series'), { format: '{n}', audit: true, store: db.store });
      await codes.next();
      const transaction = await db.begin();
      const outcomes = await Promise.allSettled(
        mixture(transaction).map((object, i) => codes.void('1', `reason ${i}`, { in: object })),
      );
      await transaction.commit();
      const [entry] = await codes.list();
      const done = outcomes.flatMap(({ status }, i) => (status === 'fulfilled' ? `reason ${i}` : []));
      expect(done).toEqual([entry?.voided?.reason]);
    });
  });
