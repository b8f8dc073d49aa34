import { uuid7 } from 'idsmith/uuid7';
import Libsql from 'libsql';
import { BeforeInsert, Column, DataSource, Entity, EntitySchema, EventSubscriber } from 'typeorm';
import { expect } from 'vitest';
import { defaultCases } from './default-cases.mjs';

const exactly = { to: (id) => id?.toString(), from: (text) => text && BigInt(text) };

/** The ids of an order that has none. */
async function fill(order, { flakes, codes, tickets }) {
  order.id ??= flakes.next();
  order.ref ??= uuid7();
  order.code ??= codes.next();
  order.ticket ??= await tickets.next();
}

const columnsOf = ({ uuid, bigint = 'bigint', transformer = exactly }) => ({
  id: { type: bigint, primary: true, transformer },
  ref: { type: uuid },
  code: { type: 'varchar' },
  ticket: { type: bigint, transformer },
  note: { type: 'varchar', nullable: true },
});

/** A class with a listener, as decorators make one. */
function listening(columns, generators) {
  class Order {
    fill() {
      return fill(this, generators);
    }
  }
  Entity('orders')(Order);
  for (const [name, options] of Object.entries(columnsOf(columns))) Column(options)(Order.prototype, name);
  BeforeInsert()(Order.prototype, 'fill');
  return Order;
}

/** A subscriber, as `@EventSubscriber()` makes one. */
function subscribing(generators) {
  class Subscriber {
    async beforeInsert({ metadata, entity }) {
      if (metadata.name === 'Order') await fill(entity, generators);
    }
  }
  EventSubscriber()(Subscriber);
  return Subscriber;
}

const ways = (source, entity, { create, createMany }) => ({
  source,
  entity,
  create: (order, manager = source.manager) => create(manager, order),
  createMany: (orders) => createMany(source.manager, orders),
  transaction: (work) => source.transaction(work),
  rows: () => source.manager.find(entity),
  close: () => source.destroy(),
});

const withListener = async (options, columns, generators) => {
  const Order = listening(columns, generators);
  const source = await new DataSource({ ...options, entities: [Order] }).initialize();
  const save = (manager, orders) => manager.save(manager.create(Order, orders));
  return ways(source, Order, { create: save, createMany: save });
};

const withSubscriber = async (options, columns, generators) => {
  const entity = new EntitySchema({ name: 'Order', tableName: 'orders', columns: columnsOf(columns) });
  const subscribers = [subscribing(generators)];
  const source = await new DataSource({ ...options, entities: [entity], subscribers }).initialize();
  const insert = (manager, orders) => manager.insert(entity, orders);
  return ways(source, entity, { create: insert, createMany: insert });
};

const onListener = {
  async 'is not called by insert(), which then fails'({ db: { source, entity }, rows }) {
    const before = await rows();
    await expect(source.manager.insert(entity, { note: 'plain' })).rejects.toThrow(/null|NULL|default/);
    expect(await rows()).toEqual(before);
  },
};

const onSubscriber = {
  async 'is called by save() and the query builder'({ db: { source, entity }, rows }) {
    await source.manager.save(entity, { note: 'saved' });
    await source.manager.createQueryBuilder().insert().into(entity).values({ note: 'built' }).execute();
    const notes = (await rows()).map(({ note }) => note);
    expect(notes).toEqual(expect.arrayContaining(['saved', 'built']));
  },
  async 'is called by upsert(), which leaves the ids of a row that is there'({
    db: { source, entity },
    rows,
  }) {
    const [first] = await rows();
    await source.manager.upsert(
      entity,
      { id: first.id, ref: first.ref, code: first.code, ticket: first.ticket, note: 'changed' },
      ['id'],
    );
    await source.manager.upsert(entity, { note: 'upserted' }, ['id']);
    const after = await rows();
    expect(after[0]).toEqual({ ...first, note: 'changed' });
    expect(after.map(({ note }) => note)).toContain('upserted');
  },
};

const databases = {
  postgres: ({ url }) => [{ type: 'postgres', url }, { uuid: 'uuid' }],
  mariadb: ({ url }) => [
    { type: 'mariadb', url, supportBigNumbers: true, bigNumberStrings: true },
    { uuid: 'char' },
  ],
  sqlite: ({ file }) => [
    {
      type: 'better-sqlite3',
      database: file,
      driver: Libsql,
      prepareDatabase: (db) => db.defaultSafeIntegers(true),
    },
    { uuid: 'varchar', bigint: 'integer', transformer: { to: (id) => id, from: (id) => id && BigInt(id) } },
  ],
};

for (const [server, of] of Object.entries(databases)) {
  const listener = (database, generators) => withListener(...of(database), generators);
  const subscriber = (database, generators) => withSubscriber(...of(database), generators);
  // SQLite numbers an INTEGER PRIMARY KEY by itself, but the other columns stay empty.
  defaultCases('TypeORM listener', server, listener, onListener);
  defaultCases('TypeORM subscriber', server, subscriber, onSubscriber);
}
