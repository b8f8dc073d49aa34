import { randomBytes } from 'node:crypto';
import { EntitySchema, MikroORM } from '@mikro-orm/postgresql';
import { getMigrations } from 'better-auth/db/migration';
import { connect } from 'idsmith/connect';
import mongoose from 'mongoose';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { databases } from './databases.mjs';
import { Page } from './page.mjs';

// Runs the recipes of docs/column-defaults.md as they stand, each on a database of its own, and compares what they read with what is stored.

const page = new Page('column-defaults');
const [generators] = page.programs('Synchronous and asynchronous');
const close = 'await ids.close();';

/** The programs of the page: the name, and the blocks that it consists of. */
const recipes = [
  ['Drizzle', page.programs('Drizzle').slice(0, 1)],
  ['Prisma', page.programs('Prisma')],
  ['TypeORM, listener', page.programs('TypeORM').slice(0, 1)],
  ['TypeORM, subscriber', page.programs('TypeORM').slice(1)],
  ['Sequelize', page.programs('Sequelize')],
  ['MikroORM', page.programs('MikroORM')],
  ['Kysely', page.programs('Kysely')],
  ['Knex', page.programs('Knex').slice(0, 1)],
];

/** A database of its own for a recipe, which finds it in the environment. */
async function databaseFor(recipe) {
  const slug = recipe.toLowerCase().replaceAll(/\W+/g, '_');
  const database = await databases.postgres(`page_${slug}`, 'orders');
  process.env.DATABASE_URL = database.url;
  return { slug, ...database };
}

describe('The recipe in docs/column-defaults.md', () => {
  it('has the tables that it speaks of', async () => {
    const [, tables] = page.programs('Synchronous and asynchronous');
    const { url, read } = await databaseFor('tables');
    const columns = `SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns
      WHERE table_name IN ('orders', 'order_lines') ORDER BY table_name, ordinal_position`;
    const before = await read(columns);
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(`DROP TABLE order_lines; DROP TABLE orders; ${tables}`);
    await client.end();
    expect(await read(columns)).toEqual(before);
  });

  it('for files that tools load opens no generator before the program says so', async () => {
    const { read } = await databaseFor('tools');
    const own = "SELECT table_name FROM information_schema.tables WHERE table_name LIKE 'id%' ORDER BY 1";
    const module = await page.run('tools', ...page.programs('Files that the tools of an ORM load'));
    expect([module.flakes, module.tickets, await read(own)]).toEqual([undefined, undefined, []]);
    const ids = await module.openIds();
    expect([typeof module.flakes.next(), await module.tickets.next()]).toEqual(['bigint', 1n]);
    await ids.close();
  });

  it('of MikroORM keeps the tables of idsmith out of an update of the schema', async () => {
    const { url, read } = await databaseFor('mikro_orm_tables');
    const ids = await connect(url);
    await ids.flakes('orders');
    await (await ids.series('invoices', { format: 'INV-{n:6}', audit: true })).next();
    await ids.close();
    const own = await read("SELECT tablename FROM pg_tables WHERE tablename LIKE 'id%' ORDER BY 1");
    const [, skipTables] = /`schemaGenerator: { skipTables: (.*) }` in/.exec(page.text);
    const Order = new EntitySchema({
      name: 'Order',
      tableName: 'orders',
      properties: { id: { type: 'bigint', primary: true } },
    });
    const dropped = async (schemaGenerator) => {
      const orm = await MikroORM.init({ clientUrl: url, entities: [Order], schemaGenerator });
      const sql = await orm.schema.getUpdateSchemaSQL();
      await orm.close();
      return [...sql.matchAll(/drop table if exists "(id\w+)"/g)].map(([, name]) => name).sort();
    };
    const tables = ['id_sequences', 'id_series_log', 'idsmith_leases', 'idsmith_pasts'];
    expect(own.map(({ tablename }) => tablename)).toEqual(tables);
    expect(await dropped({})).toEqual(tables);
    expect(await dropped({ skipTables: new Function(`return ${skipTables}`)() })).toEqual([]);
  });

  it.each(recipes)('of %s fills every column, and reads ids exactly', async (name, blocks) => {
    const { slug, read } = await databaseFor(name);
    const { order } = await page.run(slug, generators, ...blocks, close, 'export { order };');
    const rows = await read('SELECT * FROM orders ORDER BY id');
    const { id, ref, code, ticket, note } = order;
    expect([typeof id, typeof ticket]).toEqual(['bigint', 'bigint']);
    expect({ id: `${id}`, ref, code, ticket: `${ticket}`, note }).toEqual(rows[0]);
    expect(id).toBeGreaterThan(2n ** 53n);
    for (const row of rows) {
      expect(row.ref).toMatch(/^.{14}7/);
      expect(row.code).toMatch(/^order_\w{26}$/);
    }
    expect(rows.map((row) => row.ticket)).toEqual(['1', '2', '3'].slice(0, rows.length));
    if (name !== 'Prisma') return;
    const lines = await read('SELECT order_id, article FROM order_lines ORDER BY id');
    expect(lines).toEqual(['apple', 'pear'].map((article) => ({ order_id: `${id}`, article })));
  });

  it('of Drizzle keeps 16 bytes of a typed id', async () => {
    const { slug, url, read } = await databaseFor('Drizzle, 16 bytes');
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query('CREATE TABLE shipments (id UUID PRIMARY KEY)');
    await client.end();
    const insert = 'const [shipment] = await db.insert(shipments).values({}).returning();';
    const result = 'const stored = codes.toUuid(shipment.id); export { shipment, stored };';
    const { shipment, stored } = await page.run(
      slug,
      generators,
      ...page.programs('Drizzle'),
      insert,
      close,
      result,
    );
    expect(shipment.id).toMatch(/^order_\w{26}$/);
    expect(await read('SELECT id FROM shipments')).toEqual([{ id: stored }]);
  });

  it('of Mongoose fills every field, and the bytes for MongoDB are exact', async () => {
    await databaseFor('Mongoose');
    const result = `const given = new Order({ _id: 2n ** 63n - 1n, ticket: 2n ** 53n + 1n });
      export { Order, order, given };`;
    const { Order, order, given } = await page.run(
      'mongoose',
      generators,
      ...page.programs('Mongoose'),
      close,
      result,
    );
    expect(typeof order._id).toBe('bigint');
    expect(order._id).toBeGreaterThan(2n ** 53n);
    expect(order).toMatchObject({ ticket: 1n, note: 'one', code: expect.stringMatching(/^order_\w{26}$/) });
    expect(String(order.ref)).toMatch(/^.{14}7/);
    const { BSON } = mongoose.mongo;
    for (const document of [order, given]) {
      const bytes = BSON.serialize(document.toObject());
      const read = Order.hydrate(BSON.deserialize(bytes));
      expect(read.toObject()).toEqual(document.toObject());
      const { _id, ticket } = BSON.deserialize(bytes, { useBigInt64: true });
      expect([_id, ticket]).toEqual([document._id, document.ticket]);
    }
  });

  it('of better-auth gives each model ids with its name', async () => {
    const { slug, url, read } = await databaseFor('better-auth');
    const database = new pg.Pool({ connectionString: url });
    await (await getMigrations({ database, emailAndPassword: { enabled: true } })).runMigrations();
    await database.end();
    process.env.BASE_URL = 'http://localhost';
    process.env.BETTER_AUTH_SECRET = randomBytes(32).toString('hex');
    const result = 'await pool.end(); export { user };';
    const { user } = await page.run(slug, generators, ...page.programs('better-auth'), close, result);
    expect(user.id).toMatch(/^user_\w{26}$/);
    expect(await read('SELECT id FROM "user"')).toEqual([{ id: user.id }]);
    const [account] = await read('SELECT id, "userId" FROM account');
    expect(account).toEqual({ id: expect.stringMatching(/^account_\w{26}$/), userId: user.id });
    const [session] = await read('SELECT id FROM session');
    expect(session.id).toMatch(/^session_\w{26}$/);
  });
});
