import {
  atAnyTime,
  call,
  type Foreign,
  hasMethods,
  never,
  oneAtATime,
  type Recogniser,
  rowsIn,
  type SqlChange,
  type SqlDriver,
} from './driver.js';

/** `mysql2` and `mysql2/promise`: a connection or a pool. */
export const mysql2: Recogniser = (client) =>
  hasMethods(client, 'query', 'execute') &&
  ['getConnection', 'beginTransaction'].some((name) => hasMethods(client, name))
    ? mysqlLike(client)
    : undefined;

/** A client with the method `query` of `mysql2/promise`, or with a method `promise` that gives such a client. */
export const mysqlLike: Recogniser = (given) => {
  const client = hasMethods(given, 'promise') ? (call(given, 'promise') as Foreign) : given;
  if (!hasMethods(client, 'query')) return undefined;
  const isPool = hasMethods(client, 'getConnection');
  // The package mariadb gives no fields after the answer.
  const isBare = hasMethods(client, 'batch');
  const answer = async (text: string, values: readonly unknown[]) => {
    const given = await call(client, 'query', text, values);
    return (isBare ? given : (given as unknown[])[0]) as unknown[] | SqlChange;
  };
  const driver: SqlDriver = {
    dialect: 'mysql',
    answer,
    query: async (text, values) => rowsIn(await answer(text, values)),
    ...(isPool && { isPool, inTransaction: never }),
  };
  // A single connection keeps a queue of its own.
  const single = 'beginTransaction' in client ? oneAtATime : atAnyTime;
  return Object.assign(driver, { borrow: isPool ? () => checkOut(client) : single(driver) });
};

async function checkOut(pool: Foreign) {
  const connection = (await call(pool, 'getConnection')) as Foreign;
  return {
    connection: mysqlLike(connection) as SqlDriver,
    release: () => void call(connection, 'release'),
    destroy: () => void call(connection, 'destroy'),
  };
}
