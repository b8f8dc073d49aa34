import { connect } from 'idsmith/connect';
import { typeIds } from 'idsmith/typeid';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databases } from './databases.mjs';

/** Thrown to roll back. */
class Undo extends Error {}

const BIGGEST = 2n ** 63n - 1n;

/**
 * The cases of one ORM that fills ids in, on one database.
 *
 * @param {string} orm
 * @param {'postgres' | 'mariadb' | 'sqlite'} server
 * @param open gives the ORM's own ways, by `{ url, file }` and the generators `{ flakes, tickets, codes }`: `create(order, tx?)` and
 * `createMany(orders)` insert orders; `transaction(work)` runs work inside, and undoes it when it throws; `rows()` reads all orders; `close()`
 * @param more further cases of this ORM: a name, and a function of `{ db, ids, generators, rows }`
 */
export function defaultCases(orm, server, open, more = {}) {
  describe(`${orm} with defaults on ${server}`, () => {
    let database;
    let ids;
    let generators;
    let db;
    beforeAll(async () => {
      database = await databases[server](`defaults_${orm.toLowerCase().replaceAll(/\W/g, '_')}`, 'orders');
      ids = await connect(database.url);
      generators = {
        flakes: await ids.flakes('orders'),
        tickets: await ids.sequence('tickets', { define: {} }),
        codes: typeIds('order'),
      };
      db = await open(database, generators);
    });
    afterAll(async () => {
      await db?.close();
      await ids?.close();
      database?.remove();
    });

    /** Orders as the ORM reads them, in order, after a look at the database itself. */
    const rows = async () => {
      const read = (await db.rows()).map(({ id, ref, code, ticket, note }) => ({
        id,
        ref,
        code,
        ticket,
        note,
      }));
      read.sort((a, b) => (a.id < b.id ? -1 : 1));
      const stored = await database.read('SELECT id, ref, code, ticket, note FROM orders ORDER BY id');
      expect(read.map((row) => ({ ...row, id: `${row.id}`, ticket: `${row.ticket}` }))).toEqual(stored);
      for (const { id, ref, code, ticket } of read) {
        expect([typeof id, typeof ticket]).toEqual(['bigint', 'bigint']);
        expect(id).toBeGreaterThan(2n ** 53n);
        expect(ref).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7/);
        expect(code).toMatch(/^order_[0-9a-z]{26}$/);
      }
      return read;
    };

    it('gives a row its ids, and reads bigints', async () => {
      await db.create({ note: 'one' });
      expect(await rows()).toMatchObject([{ ticket: 1n, note: 'one' }]);
    });

    it('gives each of many rows ids of its own, in order', async () => {
      const notes = Array.from({ length: 30 }, (_, i) => `many ${i}`);
      await db.createMany(notes.map((note) => ({ note })));
      const many = (await rows()).slice(1);
      expect(many.map(({ note }) => note)).toEqual(notes);
      expect(many.map(({ ref }) => ref)).toEqual(many.map(({ ref }) => ref).sort());
      expect(many.map(({ code }) => code)).toEqual(many.map(({ code }) => code).sort());
      expect(many.map(({ ticket }) => ticket)).toEqual(notes.map((_, i) => BigInt(i + 2)));
    });

    it('fills ids in a transaction, and leaves nothing after a rollback', async () => {
      await db.transaction((tx) => db.create({ note: 'kept' }, tx));
      const undone = db.transaction(async (tx) => {
        await db.create({ note: 'undone' }, tx);
        throw new Undo();
      });
      await expect(undone).rejects.toThrow(Undo);
      const notes = (await rows()).map(({ note }) => note);
      expect(notes).toContain('kept');
      expect(notes).not.toContain('undone');
    });

    it('keeps ids that are given, exactly', async () => {
      const given = {
        id: BIGGEST,
        ref: '019b7c4e-94ce-7ba1-9d1c-21f1a6a6c9e8',
        code: 'order_01kdvebb6ef7nt27117tkadjf8',
      };
      const order = { ...given, ticket: BIGGEST - 1n, note: 'given' };
      await db.create(order);
      expect((await rows()).at(-1)).toEqual(order);
    });

    for (const [name, run] of Object.entries(more)) it(name, () => run({ db, ids, generators, rows }));

    it('fails and writes nothing when the generator is closed', async () => {
      const before = await rows();
      await generators.flakes.close();
      await expect((async () => db.create({ note: 'too late' }))()).rejects.toThrow(/closed/);
      expect(await rows()).toEqual(before);
    });
  });
}
