import { EntitySchema } from '@mikro-orm/core';
import { MikroORM as Sqlite } from '@mikro-orm/libsql';
import { MikroORM as MariaDb } from '@mikro-orm/mariadb';
import { MikroORM as Postgres } from '@mikro-orm/postgresql';
import { cases } from './cases.mjs';

const invoiceWith = (uuid) =>
  new EntitySchema({
    name: 'Invoice',
    tableName: 'invoices',
    properties: {
      id: { type: 'bigint', primary: true },
      ref: { type: uuid },
      ticket: { type: 'bigint' },
      number: { type: 'bigint' },
    },
  });

const exactly = (row) => ({
  id: BigInt(row.id),
  ref: row.ref,
  ticket: BigInt(row.ticket),
  number: BigInt(row.number),
});

const ways = (orm) => ({
  transaction: (work) => orm.em.fork().transactional(work),
  savepoint: (em, work) => em.transactional(work),
  same: (em) => em.getTransactionContext(),
  insert: (em, row) => em.insert('Invoice', row),
  rows: async () => (await orm.em.fork().find('Invoice', {})).map(exactly),
  outside: () => [orm.em, orm.em.fork()],
  close: () => orm.close(),
});

cases('MikroORM', 'postgres', async ({ url }) =>
  ways(await Postgres.init({ clientUrl: url, entities: [invoiceWith('uuid')] })),
);

cases('MikroORM', 'mariadb', async ({ url }) =>
  ways(await MariaDb.init({ clientUrl: url, entities: [invoiceWith('string')] })),
);

cases('MikroORM', 'sqlite', async ({ file }) =>
  ways(
    await Sqlite.init({
      dbName: file,
      entities: [invoiceWith('string')],
      pool: {
        afterCreate(connection, done) {
          connection.defaultSafeIntegers(true);
          done(null, connection);
        },
      },
    }),
  ),
);
