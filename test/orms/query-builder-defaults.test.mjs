import { uuid7 } from 'idsmith/uuid7';
import knex from 'knex';
import BetterSqlite3 from 'knex/lib/dialects/better-sqlite3/index.js';
import { Kysely, MysqlDialect, PostgresDialect, SqliteDialect } from 'kysely';
import Libsql from 'libsql';
import { createPool } from 'mysql2';
import pg from 'pg';
import { defaultCases } from './default-cases.mjs';

// Kysely and Knex have no defaults of their own: a function gives rows their ids.

const newOrders =
  ({ flakes, codes, tickets }) =>
  async (rows) => {
    const numbers = await tickets.batch(rows.length);
    return rows.map((row, i) => ({
      id: flakes.next(),
      ref: uuid7(),
      code: codes.next(),
      ticket: numbers[i],
      ...row,
    }));
  };

const types = { getTypeParser: (oid, format) => (oid === 20 ? BigInt : pg.types.getTypeParser(oid, format)) };
const typeCast = (field, next) => {
  if (field.type !== 'LONGLONG') return next();
  const text = field.string();
  return text === null ? null : BigInt(text);
};

function withKysely(dialect, generators) {
  const db = new Kysely({ dialect });
  const filled = newOrders(generators);
  const createMany = async (rows, trx = db) => {
    await trx
      .insertInto('orders')
      .values(await filled(rows))
      .execute();
  };
  return {
    create: (row, trx) => createMany([row], trx),
    createMany,
    transaction: (work) => db.transaction().execute(work),
    rows: () => db.selectFrom('orders').selectAll().execute(),
    close: () => db.destroy(),
  };
}

defaultCases('Kysely', 'postgres', async ({ url }, generators) =>
  withKysely(new PostgresDialect({ pool: new pg.Pool({ connectionString: url, types }) }), generators),
);

defaultCases('Kysely', 'mariadb', async ({ url }, generators) =>
  withKysely(new MysqlDialect({ pool: createPool({ uri: url, typeCast }) }), generators),
);

defaultCases('Kysely', 'sqlite', async ({ file }, generators) => {
  const database = new Libsql(file);
  database.defaultSafeIntegers(true);
  return withKysely(new SqliteDialect({ database }), generators);
});

function withKnex(config, generators) {
  const db = knex(config);
  const filled = newOrders(generators);
  const createMany = async (rows, trx = db) => {
    await trx('orders').insert(await filled(rows));
  };
  return {
    create: (row, trx) => createMany([row], trx),
    createMany,
    transaction: (work) => db.transaction(work),
    rows: () => db('orders').select(),
    close: () => db.destroy(),
  };
}

defaultCases('Knex', 'postgres', async ({ url }, generators) =>
  withKnex({ client: 'pg', connection: { connectionString: url, types } }, generators),
);

defaultCases('Knex', 'mariadb', async ({ url }, generators) =>
  withKnex({ client: 'mysql2', connection: { uri: url, typeCast } }, generators),
);

/** The client for `better-sqlite3`, with a package of the same methods. */
class LibsqlClient extends BetterSqlite3 {
  _driver() {
    return Libsql;
  }
}

defaultCases('Knex', 'sqlite', async ({ file }, generators) =>
  withKnex(
    {
      client: LibsqlClient,
      connection: { filename: file },
      useNullAsDefault: true,
      pool: {
        afterCreate(connection, done) {
          connection.defaultSafeIntegers(true);
          done(null, connection);
        },
      },
    },
    generators,
  ),
);
