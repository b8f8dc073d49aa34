import knex from 'knex';
import BetterSqlite3 from 'knex/lib/dialects/better-sqlite3/index.js';
import Libsql from 'libsql';
import { cases } from './cases.mjs';

const exactly = (row) => ({
  id: BigInt(row.id),
  ref: row.ref,
  ticket: BigInt(row.ticket),
  number: BigInt(row.number),
});

const ways = (db, toColumn = (id) => id) => ({
  transaction: (work) => db.transaction(work),
  savepoint: (trx, work) => trx.transaction(work),
  insert: (trx, { id, ref, ticket, number }) =>
    trx('invoices').insert({
      id: toColumn(id),
      ref,
      ticket: toColumn(ticket),
      number: toColumn(number),
    }),
  rows: async () => (await db('invoices').select()).map(exactly),
  outside: () => [db],
  close: () => db.destroy(),
});

cases('Knex', 'postgres', async ({ url }) => ways(knex({ client: 'pg', connection: url }), String));

cases('Knex', 'mariadb', async ({ url }) => {
  const connection = { uri: url, supportBigNumbers: true, bigNumberStrings: true };
  return ways(knex({ client: 'mysql2', connection }), String);
});

/** The client for `better-sqlite3`, with a package of the same methods. */
class LibsqlClient extends BetterSqlite3 {
  _driver() {
    return Libsql;
  }
}

cases('Knex', 'sqlite', async ({ file }) =>
  ways(
    knex({
      client: LibsqlClient,
      connection: { filename: file },
      useNullAsDefault: true,
      pool: {
        afterCreate(connection, done) {
          connection.defaultSafeIntegers(true);
          done(null, connection);
        },
      },
    }),
  ),
);
