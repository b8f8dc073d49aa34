import { InvalidOptionError } from '../errors.js';
import { show } from '../options.js';
import { checkedExecutor } from './checked-executor.js';
import type { Recogniser } from './driver.js';
import { libsqlClient, own, postgresJs, sqlite } from './drivers.js';
import { mysql2 } from './mysql2.js';
import { drizzle, knex, kysely, prisma, sequelize, typeorm } from './orms.js';
import { pg } from './pg.js';
import type { SqlExecutor } from './port.js';
import { call, type Foreign, hasMethods, isForeign } from './shapes.js';

/** ORMs first: some of them have the methods of a driver, too. */
const RECOGNISERS: readonly Recogniser[] = [
  ...[own, drizzle, prisma, typeorm, sequelize, knex, kysely],
  ...[postgresJs, libsqlClient, mysql2, sqlite, pg],
];

const KNOWN =
  'a client of pg, postgres, mysql2, @libsql/client, libsql, better-sqlite3, node:sqlite or bun:sqlite, a transaction of Drizzle, ' +
  'Kysely, Knex, TypeORM, Sequelize, MikroORM or Prisma on PostgreSQL, MySQL, MariaDB or SQLite';

const ADAPTER =
  "{ dialect: 'postgres', // or 'mysql', 'sqlite'\n  query: async (text, values) => (await yours.query(text, values)).rows }";

/** The executor of each connection or transaction. */
const executors = new WeakMap<object, SqlExecutor>();

/**
 * The executor of a driver's client, of an ORM's transaction, or of an adapter of your own. The object is recognised by its members, and
 * nothing is imported. The same object gives the same executor.
 *
 * | package | object |
 * |---|---|
 * | `pg` | `Client`, `PoolClient`, `Pool` |
 * | `postgres` | `sql`, `await sql.reserve()`, the `sql` of `sql.begin()` |
 * | `mysql2`, `mysql2/promise` | connection, pool |
 * | `@libsql/client` | client, `await client.transaction()` |
 * | `libsql`, `better-sqlite3`, `node:sqlite`, `bun:sqlite` | database |
 * | Drizzle, Kysely, Knex, Prisma | the object that their transaction gives to your function |
 * | TypeORM | `EntityManager` or `QueryRunner` of a transaction |
 * | Sequelize | `Transaction` |
 * | MikroORM | `EntityManager` of a transaction |
 *
 * @throws InvalidOptionError when the object is not recognised
 */
export function sqlExecutor(client: object): SqlExecutor {
  if (!isForeign(client)) throw unknown(client);
  const connection = connectionOf(client);
  let executor = executors.get(connection);
  if (executor === undefined) {
    executor = executorOf(connection);
    executors.set(connection, executor);
  }
  return executor;
}

/** The object that stands for the connection itself, where several objects share one. */
function connectionOf(client: Foreign): Foreign {
  // MikroORM keeps a transaction of Knex or Kysely.
  if (hasMethods(client, 'getTransactionContext', 'isInTransaction')) {
    const context = call(client, 'getTransactionContext');
    if (isForeign(context)) return context;
    throw new InvalidOptionError(
      'transaction must be open: this EntityManager of MikroORM is not in a transaction. Take the one that em.transactional() gives you',
    );
  }
  // TypeORM's manager and its query runner.
  const { queryRunner } = client;
  return hasMethods(client, 'getRepository', 'query') && isForeign(queryRunner) ? queryRunner : client;
}

function executorOf(client: Foreign): SqlExecutor {
  for (const recognise of RECOGNISERS) {
    const adapter = recognise(client);
    if (adapter !== undefined) return checkedExecutor(adapter);
  }
  throw unknown(client);
}

function unknown(value: unknown): InvalidOptionError {
  return new InvalidOptionError(
    `the database client must be ${KNOWN}, not ${show(value)}. For any other, write an adapter that runs every statement on ` +
      `one connection:\n${ADAPTER}`,
  );
}
