import { FlakeGenerator, InvalidOptionError, LocalityGenerator, layouts } from 'idsmith';
import { connect } from 'idsmith/connect';
import { gapless, series, sqlExecutor } from 'idsmith/sql';
import { openStore } from 'idsmith/stores';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases } from './databases.mjs';

/** Thrown to roll back. */
class Undo extends Error {}

const undone = async (work) => {
  await expect(work).rejects.toThrow(Undo);
};

/** Statements with values that look like SQL, and quotes that look like placeholders. */
const STATEMENTS = {
  postgres: {
    text: `SELECT CONCAT($2::text, '$1?', $1::text, $2::text) AS answer`,
    values: ["a'\\?$1", 'b'],
    answer: "b$1?a'\\?$1b",
  },
  mariadb: {
    text: `SELECT CONCAT(?, '$1', ?) AS answer`,
    values: ['b', "a'\\?$1"],
    answer: "b$1a'\\?$1",
  },
  sqlite: { text: `SELECT ? || '$1' || ? AS answer`, values: ['b', "a'\\?$1"], answer: "b$1a'\\?$1" },
};

const flakes = new FlakeGenerator({ layout: layouts.snowflake, node: 1 });
const locality = new LocalityGenerator();

/**
 * The cases of one ORM on one database.
 *
 * @param {string} orm
 * @param {'postgres' | 'mariadb' | 'sqlite'} server
 * @param open gives the ORM's own ways, by `{ url, file }`:
 * `transaction(work)` and `savepoint(tx, work)` run work inside, and undo what work did when it throws; `insert(tx, row)` and
 * `rows()` write and read rows of `invoices`; `outside()` lists objects that are no transaction; `close()`;
 * `withSavepoints(work)` where this is another kind of transaction; `same(tx)` where another object has the same transaction;
 * `alike(tx)` gives more objects that stand for its connection
 */
export function cases(orm, server, open) {
  describe(`${orm} on ${server}`, () => {
    let database;
    let store;
    let db;
    beforeAll(async () => {
      database = await databases[server](orm.toLowerCase().replaceAll(/\W/g, '_'));
      store = await openStore(database.url);
      db = await open(database);
    });
    afterAll(async () => {
      await db?.close();
      await store?.close();
      database?.remove();
    });

    let names = 0;
    const defined = async (options = {}) => {
      const name = `numbers ${++names}`;
      await store.defineSequence({ name, ...options });
      return name;
    };
    const next = async (name) => (await store.describeSequence(name)).next;
    const row = (number, ticket = 1n) => ({
      id: flakes.next(),
      ref: locality.next(),
      ticket,
      number,
    });

    it('keeps a number that is committed, and gives back one that is rolled back', async () => {
      const name = await defined();
      expect(await db.transaction((tx) => gapless(name, tx))).toBe(1n);
      await undone(
        db.transaction(async (tx) => {
          expect([await gapless(name, tx), await gapless(name, tx)]).toEqual([2n, 3n]);
          throw new Undo();
        }),
      );
      expect(await next(name)).toBe(2n);
      expect(await db.transaction((tx) => gapless(name, tx))).toBe(2n);
    });

    it('gives back the numbers of a savepoint', async () => {
      const name = await defined();
      await (db.withSavepoints ?? db.transaction)(async (tx) => {
        expect(await gapless(name, tx)).toBe(1n);
        await undone(
          db.savepoint(tx, async (inner) => {
            expect(await gapless(name, inner)).toBe(2n);
            throw new Undo();
          }),
        );
        await db.savepoint(tx, async (inner) => {
          expect(await gapless(name, inner)).toBe(2n);
        });
        expect(await gapless(name, tx)).toBe(3n);
      });
      expect(await next(name)).toBe(4n);
    });

    it('sends values and gives rows', async () => {
      const { text, values, answer } = STATEMENTS[server];
      const rows = await db.transaction((tx) => sqlExecutor(tx).query(text, values));
      expect(rows).toEqual([{ answer }]);
    });

    it('gives several numbers at once, one after the other', async () => {
      const name = await defined();
      const numbers = await db.transaction((tx) =>
        Promise.all([tx, tx, db.same?.(tx) ?? tx].map((object) => gapless(name, object))),
      );
      expect(numbers).toEqual([1n, 2n, 3n]);
    });

    it('gives consecutive numbers to calls at once, through every object of a transaction', async () => {
      const name = await defined();
      const printed = series(`printed ${name}`, { format: '{n}' });
      for (let first = 1; first < 12; ) {
        await (db.withSavepoints ?? db.transaction)((tx) =>
          db.savepoint(tx, async (inner) => {
            const objects = [tx, inner, ...((await db.alike?.(inner)) ?? []), tx, inner];
            const next = objects.map((_, i) => first + i);
            const inOrder = (numbers) => numbers.map(Number).sort((a, b) => a - b);
            const plain = await Promise.all(objects.map((object) => gapless(name, object)));
            expect(inOrder(plain)).toEqual(next);
            const texts = await Promise.all(objects.map((object) => printed.next({ in: object })));
            expect(inOrder(texts)).toEqual(next);
            first += objects.length;
          }),
        );
      }
    });

    it('gives no number outside of a transaction, or after its end', async () => {
      const name = await defined();
      const outside = await db.outside();
      expect(outside.length).toBeGreaterThan(0);
      for (const object of outside) await expect(gapless(name, object)).rejects.toThrow(InvalidOptionError);
      let ended;
      await db.transaction(async (tx) => {
        ended = tx;
      });
      await expect(gapless(name, ended)).rejects.toThrow();
      expect(await next(name)).toBe(1n);
    });

    it('keeps ids exactly, past 2^53', async () => {
      const name = await defined({ start: 2n ** 62n });
      const written = [];
      await db.transaction(async (tx) => {
        for (const ticket of [2n ** 53n + 1n, 2n ** 63n - 1n]) {
          const invoice = row(await gapless(name, tx), ticket);
          written.push(invoice);
          await db.insert(tx, invoice);
        }
      });
      expect(written.every(({ id, number }) => id > 2n ** 53n && number >= 2n ** 62n)).toBe(true);
      const read = (await db.rows()).filter(({ number }) => number >= 2n ** 62n);
      expect(read.sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual(written);
    });

    it('gives a printed number of a series, and logs and voids it, in the transaction', async () => {
      const ids = await connect(store);
      const printed = await ids.series('printed', { format: 'INV-{n:4}', audit: true });
      expect(await db.transaction((tx) => printed.next({ in: tx }))).toBe('INV-0001');
      await undone(
        db.transaction(async (tx) => {
          expect(await printed.next({ in: tx })).toBe('INV-0002');
          await printed.void('INV-0001', 'undone', { in: tx });
          throw new Undo();
        }),
      );
      const second = await db.transaction(async (tx) => {
        const text = await printed.next({ in: tx });
        await printed.void(text, 'nobody paid – “ever”', { in: tx });
        expect(await printed.list({ in: tx })).toHaveLength(2);
        return text;
      });
      const list = await printed.list();
      expect(list.map(({ text, number, voided }) => [text, number, voided?.reason])).toEqual([
        ['INV-0001', 1n, undefined],
        [second, 2n, 'nobody paid – “ever”'],
      ]);
      await ids.close();
    });

    it('has no hole after transactions at once, some of them rolled back', async () => {
      const name = await defined();
      const invoice = (i) =>
        db.transaction(async (tx) => {
          const number = await gapless(name, tx);
          await db.insert(tx, row(number));
          if (i % 3 === 0) throw new Undo();
          return number;
        });
      // SQLite has one writer.
      const kept = [];
      const note = (number) => kept.push(number);
      const ignore = (error) => expect(error).toBeInstanceOf(Undo);
      const turns = Array.from({ length: 20 }, (_, i) => i);
      if (server === 'sqlite') for (const i of turns) await invoice(i).then(note, ignore);
      else await Promise.all(turns.map((i) => invoice(i).then(note, ignore)));
      const expected = Array.from({ length: 13 }, (_, i) => BigInt(i + 1));
      expect(kept.sort((a, b) => Number(a - b))).toEqual(expected);
      const numbers = (await db.rows()).map(({ number }) => number).filter((number) => number < 1000n);
      expect(numbers.sort((a, b) => Number(a - b))).toEqual(expected);
    });
  });
}
