import { createClient } from '@libsql/client';
import Libsql from 'libsql';
import mariadb from 'mariadb';
import { createPool as callbackPool } from 'mysql2';
import { createPool } from 'mysql2/promise';
import pg from 'pg';
import postgres from 'postgres';
import { cases } from './cases.mjs';

const exactly = (row) => ({
  id: BigInt(row.id),
  ref: row.ref,
  ticket: BigInt(row.ticket),
  number: BigInt(row.number),
});

const NUMBERED = 'INSERT INTO invoices (id, ref, ticket, number) VALUES ($1, $2, $3, $4)';
const MARKED = 'INSERT INTO invoices (id, ref, ticket, number) VALUES (?, ?, ?, ?)';
const ROWS = 'SELECT id, ref, ticket, number FROM invoices';

const valuesOf = ({ id, ref, ticket, number }) => [String(id), ref, String(ticket), String(number)];

/** Runs work between two statements. A failure runs the third one. */
const between = async (begin, commit, rollback, work) => {
  await begin();
  try {
    const result = await work();
    await commit();
    return result;
  } catch (error) {
    await rollback();
    throw error;
  }
};

const inSavepoint = (execute) => (tx, work) =>
  between(
    () => execute(tx, 'SAVEPOINT earlier'),
    () => execute(tx, 'RELEASE SAVEPOINT earlier'),
    () => execute(tx, 'ROLLBACK TO SAVEPOINT earlier'),
    () => work(tx),
  );

/** Connections of a pool, with statements for everything. */
const pooled = (pool, { connect, execute, release, insert }) => ({
  async transaction(work) {
    const connection = await connect();
    const [begin, commit, rollback] = ['BEGIN', 'COMMIT', 'ROLLBACK'].map(
      (sql) => () => execute(connection, sql),
    );
    return between(begin, commit, rollback, () => work(connection)).finally(() => release(connection));
  },
  savepoint: inSavepoint(execute),
  insert: (connection, row) => execute(connection, insert, valuesOf(row)),
  rows: async () => (await execute(pool, ROWS)).map(exactly),
});

/** An adapter as `docs/orms.md` shows it, made anew for each call. */
const adapterOf = (client) => ({
  dialect: 'postgres',
  query: async (text, values) => (await client.query(text, values)).rows,
});

cases('pg', 'postgres', async ({ url }) => {
  const pool = new pg.Pool({ connectionString: url });
  const idle = new pg.Client({ connectionString: url });
  await idle.connect();
  return {
    ...pooled(pool, {
      connect: () => pool.connect(),
      execute: async (client, sql, values) => (await client.query(sql, values)).rows,
      release: (client) => client.release(),
      insert: NUMBERED,
    }),
    alike: (client) => [adapterOf(client), adapterOf(client)],
    outside: () => [pool, idle],
    close: () => Promise.all([idle.end(), pool.end()]),
  };
});

cases('postgres.js', 'postgres', async ({ url }) => {
  const sql = postgres(url, { onnotice() {} });
  const reserved = await sql.reserve();
  return {
    transaction: (work) => sql.begin(work),
    savepoint: (tx, work) => tx.savepoint(work),
    insert: (tx, row) => tx`INSERT INTO invoices ${tx(row)}`,
    rows: async () => (await sql`SELECT * FROM invoices`).map(exactly),
    outside: () => [sql, reserved],
    close: async () => {
      reserved.release();
      await sql.end();
    },
  };
});

cases('a reserved connection of postgres.js', 'postgres', async ({ url }) => {
  const sql = postgres(url, { onnotice() {} });
  return {
    ...pooled(sql, {
      connect: () => sql.reserve(),
      execute: (connection, text, values = []) => connection.unsafe(text, values),
      release: (connection) => connection.release(),
      insert: NUMBERED,
    }),
    outside: () => [sql],
    close: () => sql.end(),
  };
});

const EXACT = { supportBigNumbers: true, bigNumberStrings: true };

cases('mysql2/promise', 'mariadb', async ({ url }) => {
  const pool = createPool({ uri: url, ...EXACT });
  const idle = await pool.getConnection();
  return {
    ...pooled(pool, {
      connect: () => pool.getConnection(),
      execute: async (connection, sql, values) => (await connection.query(sql, values))[0],
      release: (connection) => connection.release(),
      insert: MARKED,
    }),
    alike: ({ connection }) => [connection, connection.promise()],
    outside: () => [pool, idle],
    close: async () => {
      idle.release();
      await pool.end();
    },
  };
});

cases('mysql2 with callbacks', 'mariadb', async ({ url }) => {
  const pool = callbackPool({ uri: url, ...EXACT });
  const connect = () =>
    new Promise((resolve, reject) =>
      pool.getConnection((error, connection) => (error ? reject(error) : resolve(connection))),
    );
  const idle = await connect();
  return {
    ...pooled(pool, {
      connect,
      execute: async (connection, sql, values) => (await connection.promise().query(sql, values))[0],
      release: (connection) => connection.release(),
      insert: MARKED,
    }),
    alike: (connection) => [connection.promise(), connection.promise()],
    outside: () => [pool, idle],
    close: () => {
      idle.release();
      return pool.promise().end();
    },
  };
});

cases('mariadb', 'mariadb', async ({ url }) => {
  const pool = mariadb.createPool(url.replace(/^mysql/, 'mariadb'));
  return {
    ...pooled(pool, {
      connect: () => pool.getConnection(),
      execute: (connection, sql, values) => connection.query(sql, values),
      release: (connection) => connection.release(),
      insert: MARKED,
    }),
    outside: () => [pool],
    close: () => pool.end(),
  };
});

cases('@libsql/client', 'sqlite', async ({ file }) => {
  const client = createClient({ url: `file:${file}`, intMode: 'bigint' });
  const execute = (tx, sql) => tx.execute(sql);
  return {
    async transaction(work) {
      const tx = await client.transaction('write');
      return between(
        () => {},
        () => tx.commit(),
        () => tx.rollback(),
        () => work(tx),
      );
    },
    savepoint: inSavepoint(execute),
    insert: (tx, row) => tx.execute({ sql: MARKED, args: valuesOf(row) }),
    rows: async () => (await client.execute(ROWS)).rows.map(exactly),
    outside: () => [client],
    close: () => client.close(),
  };
});

const onLibsql = (file, transactionOf) => {
  const db = new Libsql(file);
  db.defaultSafeIntegers(true);
  const execute = async (sql) => db.exec(sql);
  return {
    transaction: (work) =>
      between(
        () => execute('BEGIN IMMEDIATE'),
        () => execute('COMMIT'),
        () => execute('ROLLBACK'),
        () => work(transactionOf(db)),
      ),
    savepoint: inSavepoint((_tx, sql) => execute(sql)),
    insert: (_tx, row) => db.prepare(MARKED).run(...valuesOf(row)),
    rows: async () => db.prepare(ROWS).all().map(exactly),
    alike: () => [db, transactionOf(db), transactionOf(db)],
    outside: () => [transactionOf(db)],
    close: () => db.close(),
  };
};

cases('libsql', 'sqlite', async ({ file }) => onLibsql(file, (db) => db));

cases('an adapter of the user', 'sqlite', async ({ file }) =>
  onLibsql(file, (db) => ({
    dialect: 'sqlite',
    query: async (text, values) => {
      const statement = db.prepare(text);
      if (statement.reader) return statement.all(...values);
      statement.run(...values);
      return [];
    },
  })),
);
