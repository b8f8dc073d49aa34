import { InvalidOptionError } from '../errors.js';
import { refuse, show } from '../options.js';
import { call, type Foreign, hasMethods, isForeign, type Recogniser, type SqlDriver } from './driver.js';
import { mysql2 } from './mysql2.js';
import { drizzle, knex, kysely, prisma, sequelize, typeorm } from './orms.js';
import type { SqlAdapter, SqlExecutor } from './port.js';
import { pg, postgresJs } from './postgres.js';
import { libsqlClient, sqliteDatabase } from './sqlite.js';
import { askTransaction, type CheckedExecutor } from './transaction.js';

/** An adapter of the user's own. */
export const own: Recogniser = (client) => {
  if (typeof client.dialect !== 'string' || !hasMethods(client, 'query')) return undefined;
  const adapter = client as unknown as SqlAdapter;
  return {
    dialect: adapter.dialect,
    query: (text, values) => adapter.query(text, values),
    ...(adapter.inTransaction && { inTransaction: () => adapter.inTransaction?.() as boolean }),
    ...(adapter.transaction && { transaction: async (work) => adapter.transaction?.(work) }),
  };
};

/** ORMs first: some of them have the methods of a driver, too. */
const RECOGNISERS: readonly Recogniser[] = [
  own,
  drizzle,
  prisma,
  typeorm,
  sequelize,
  knex,
  kysely,
  postgresJs,
  libsqlClient,
  mysql2,
  sqliteDatabase,
  pg,
];

const KNOWN =
  'a client of pg, postgres, mysql2, @libsql/client, libsql, better-sqlite3, node:sqlite or bun:sqlite, a transaction of Drizzle, ' +
  'Kysely, Knex, TypeORM, Sequelize, MikroORM or Prisma on PostgreSQL, MySQL, MariaDB or SQLite';

const ADAPTER =
  "{ dialect: 'postgres', // or 'mysql', 'sqlite'\n  query: async (text, values) => (await yours.query(text, values)).rows }";

/** The executor of each connection or transaction. */
const executors = new WeakMap<object, CheckedExecutor>();

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
export const sqlExecutor = (client: object): SqlExecutor => checkedExecutorOf(client);

/** {@link sqlExecutor}, as this library uses it. */
export function checkedExecutorOf(client: object): CheckedExecutor {
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

function executorOf(client: Foreign): CheckedExecutor {
  for (const recognise of RECOGNISERS) {
    const adapter = recognise(client);
    if (adapter !== undefined) return checkedExecutor(adapter);
  }
  throw unknown(client);
}

/** The executor of an adapter: checks the adapter's answers, and asks the database whether a transaction is open. */
export function checkedExecutor(adapter: SqlDriver): CheckedExecutor {
  const { dialect } = adapter;
  if (!Object.hasOwn(askTransaction, dialect))
    refuse('dialect', Object.keys(askTransaction).map(show).join(' or '), dialect);
  const query: SqlExecutor['query'] = async (text, values = []) => {
    const rows = await adapter.query(text, values);
    if (!Array.isArray(rows)) refuse('the answer of query()', 'a list of rows', rows);
    return rows;
  };
  const mayBeInside = async () => (await adapter.inTransaction?.()) ?? true;
  const transaction = async () => {
    const isPossible = await mayBeInside();
    if (adapter.isBound && dialect === 'sqlite') return {};
    return isPossible ? askTransaction[dialect](query) : undefined;
  };
  return {
    dialect,
    query,
    mayBeInside,
    transaction,
    inTransaction: async () => (await transaction()) !== undefined,
  };
}

function unknown(value: unknown): InvalidOptionError {
  return new InvalidOptionError(
    `the database client must be ${KNOWN}, not ${show(value)}. For any other, write an adapter that runs every statement on ` +
      `one connection:\n${ADAPTER}`,
  );
}
