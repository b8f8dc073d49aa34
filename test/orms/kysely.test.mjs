import { Kysely, MysqlDialect, PostgresDialect, SqliteDialect } from 'kysely';
import Libsql from 'libsql';
import { createPool } from 'mysql2';
import { Pool } from 'pg';
import { cases } from './cases.mjs';

const exactly = (row) => ({
  id: BigInt(row.id),
  ref: row.ref,
  ticket: BigInt(row.ticket),
  number: BigInt(row.number),
});

/** Kysely has savepoints in controlled transactions. */
async function inControl(db, work) {
  const trx = await db.startTransaction().execute();
  try {
    const result = await work(trx);
    await trx.commit().execute();
    return result;
  } catch (error) {
    await trx.rollback().execute();
    throw error;
  }
}

async function inSavepoint(trx, work) {
  const inner = await trx.savepoint('before').execute();
  try {
    const result = await work(inner);
    await inner.releaseSavepoint('before').execute();
    return result;
  } catch (error) {
    await inner.rollbackToSavepoint('before').execute();
    throw error;
  }
}

const ways = (dialect) => {
  const db = new Kysely({ dialect });
  return {
    transaction: (work) => db.transaction().execute(work),
    withSavepoints: (work) => inControl(db, work),
    savepoint: inSavepoint,
    insert: (trx, row) => trx.insertInto('invoices').values(row).execute(),
    rows: async () => (await db.selectFrom('invoices').selectAll().execute()).map(exactly),
    alike: (trx) => [trx.withSchema('public'), trx.withoutPlugins()],
    outside: () => [db],
    close: () => db.destroy(),
  };
};

cases('Kysely', 'postgres', async ({ url }) =>
  ways(new PostgresDialect({ pool: new Pool({ connectionString: url }) })),
);

cases('Kysely', 'mariadb', async ({ url }) =>
  ways(new MysqlDialect({ pool: createPool({ uri: url, supportBigNumbers: true, bigNumberStrings: true }) })),
);

cases('Kysely', 'sqlite', async ({ file }) => {
  const database = new Libsql(file);
  database.defaultSafeIntegers(true);
  return ways(new SqliteDialect({ database }));
});
