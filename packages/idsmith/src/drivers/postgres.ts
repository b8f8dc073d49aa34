import {
  atAnyTime,
  type Borrowed,
  call,
  type Foreign,
  hasMethods,
  isForeign,
  never,
  oneAtATime,
  type Recogniser,
  rowsIn,
  type SqlDriver,
} from './driver.js';

/** `pg`: a `Client`, a `PoolClient` or a `Pool`. */
export const pg: Recogniser = (client) =>
  'totalCount' in client || ['connect', 'release', 'escapeLiteral'].some((name) => hasMethods(client, name))
    ? pgLike(client)
    : undefined;

/** A client with the method `query` of `pg`. */
export const pgLike: Recogniser = (client) => {
  if (!hasMethods(client, 'query')) return undefined;
  const isPool = client.totalCount !== undefined;
  const driver: SqlDriver = {
    dialect: 'postgres',
    query: async (text, values) => lastRows(await call(client, 'query', text, values)),
    ...(isPool && { isPool, inTransaction: never }),
  };
  return Object.assign(driver, { borrow: lenderOf(client, driver) });
};

/** The rows in an answer. Several statements have a list of answers, of which the last one counts. */
function lastRows(answer: unknown): unknown[] {
  const last = Array.isArray(answer) ? answer.at(-1) : undefined;
  return rowsIn(isForeign(last) && Array.isArray(last.rows) ? last : answer);
}

function lenderOf(client: Foreign, driver: SqlDriver): () => Promise<Borrowed<SqlDriver>> {
  if (!hasMethods(client, 'connect')) return atAnyTime(driver);
  return driver.isPool ? () => checkOut(client) : oneAtATime(driver);
}

const ignore = () => {};

/**
 * Takes a connection and listens to its errors. A pool listens only to connections that nobody has. The statement on the connection
 * gets the error, too.
 *
 * A promise of the pool would come too late. When one chunk of bytes says that the session is ready and that the server ends
 * it, the error follows the callback at once, and an error without a listener ends the process.
 */
function checkOut(pool: Foreign): Promise<Borrowed<SqlDriver>> {
  return new Promise((resolve, reject) => {
    call(pool, 'connect', (error: unknown, client?: Foreign) => {
      if (client === undefined) return reject(error);
      call(client, 'on', 'error', ignore);
      const release = () => {
        call(client, 'off', 'error', ignore);
        call(client, 'release');
      };
      resolve({
        connection: pgLike(client) as SqlDriver,
        release,
        destroy: () => void call(client, 'release', true),
      });
    });
  });
}

/** `postgres` (postgres.js): `sql`, what `sql.reserve()` gives, or what `sql.begin()` gives. */
export const postgresJs: Recogniser = (sql) => {
  if (!hasMethods(sql, 'unsafe')) return undefined;
  const isPool = hasMethods(sql, 'begin') && !hasMethods(sql, 'release');
  const driver: SqlDriver = {
    dialect: 'postgres',
    query: async (text, values) => {
      const rows = rowsIn(await call(sql, 'unsafe', text, values));
      const last = rows.at(-1);
      // Several statements have several answers, which are lists of rows.
      return Array.isArray(last) ? [...last] : [...rows];
    },
    ...(isPool && {
      inTransaction: never,
      transaction: async (work) =>
        call(sql, 'begin', (inside: Foreign) => work(postgresJs(inside) as SqlDriver)),
    }),
  };
  return Object.assign(driver, { borrow: atAnyTime(driver) });
};
