import { BigIntType, EntitySchema } from '@mikro-orm/core';
import { MikroORM as Sqlite } from '@mikro-orm/libsql';
import { MikroORM as MariaDb } from '@mikro-orm/mariadb';
import { MikroORM as Postgres } from '@mikro-orm/postgresql';
import { uuid7 } from 'idsmith/uuid7';
import { expect } from 'vitest';
import { defaultCases } from './default-cases.mjs';

const schema = (uuid, { flakes, codes, tickets }) =>
  new EntitySchema({
    name: 'Order',
    tableName: 'orders',
    properties: {
      id: { type: new BigIntType('bigint'), primary: true, onCreate: () => flakes.next() },
      ref: { type: uuid, onCreate: () => uuid7() },
      code: { type: 'string', onCreate: () => codes.next() },
      ticket: { type: new BigIntType('bigint') },
      note: { type: 'string', nullable: true },
    },
    hooks: {
      beforeCreate: [
        async ({ entity }) => {
          entity.ticket ??= await tickets.next();
        },
      ],
    },
  });

const ways = (orm) => ({
  orm,
  async create(order, em = orm.em.fork()) {
    em.create('Order', order, { partial: true });
    await em.flush();
  },
  async createMany(orders) {
    const em = orm.em.fork();
    for (const order of orders) em.create('Order', order, { partial: true });
    await em.flush();
  },
  transaction: (work) => orm.em.fork().transactional(work),
  rows: () => orm.em.fork().find('Order', {}),
  close: () => orm.close(),
});

const more = {
  async 'fills ids at the flush, and none for insert() and upsert()'({ db: { orm }, rows }) {
    const em = orm.em.fork();
    const order = em.create('Order', { note: 'late' }, { partial: true });
    expect(order.id).toBeUndefined();
    await em.flush();
    expect((await rows()).find(({ id }) => id === order.id)).toMatchObject({ note: 'late' });
    const before = await rows();
    await expect(orm.em.fork().insert('Order', { note: 'plain' })).rejects.toThrow();
    await expect(orm.em.fork().upsert('Order', { id: 2n ** 60n, note: 'plain' })).rejects.toThrow();
    expect(await rows()).toEqual(before);
  },
};

defaultCases(
  'MikroORM',
  'postgres',
  async ({ url }, generators) =>
    ways(await Postgres.init({ clientUrl: url, entities: [schema('uuid', generators)] })),
  more,
);

defaultCases(
  'MikroORM',
  'mariadb',
  async ({ url }, generators) =>
    ways(await MariaDb.init({ clientUrl: url, entities: [schema('string', generators)] })),
  more,
);

defaultCases(
  'MikroORM',
  'sqlite',
  async ({ file }, generators) =>
    ways(
      await Sqlite.init({
        dbName: file,
        entities: [schema('string', generators)],
        pool: {
          afterCreate(connection, done) {
            connection.defaultSafeIntegers(true);
            done(null, connection);
          },
        },
      }),
    ),
  more,
);
