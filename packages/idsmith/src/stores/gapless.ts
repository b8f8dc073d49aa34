import { InvalidOptionError, NoSuchSequenceError, StoreError } from '../errors.js';
import { refuse, show } from '../options.js';
import { takeBlocks } from '../sequence/blocks.js';
import { requireStoredName } from '../sequence/name.js';
import { marked, type SequenceRows } from '../sequence/rows.js';
import { storeError } from '../support/store-error.js';
import type { MysqlClient } from './mysql/client.js';
import { mysqlColumns, mysqlRows, requireTransactions, showColumns } from './mysql/sequences.js';
import type { PostgresClient } from './postgres/client.js';
import { postgresRows } from './postgres/sequences.js';
import type { SqlRun } from './sql/runner.js';
import type { SqliteConnection, SqliteDatabase } from './sqlite/connection.js';
import { sqliteRows } from './sqlite/sequences.js';

/**
 * A connection with a transaction open: a `Client` or `PoolClient` of `pg`, a connection of `mysql2/promise`, or a database
 * of `node:sqlite`, `libsql` or `better-sqlite3`.
 */
export type GaplessTransaction =
  | PostgresClient
  | (MysqlClient & { beginTransaction: unknown })
  | SqliteDatabase;

const CONNECTION = [
  'transaction',
  'a connection with a transaction open, of pg, mysql2/promise or SQLite',
] as const;

/**
 * Takes the next number of a sequence inside the caller's own transaction. A rollback gives the number back, so that there is no gap.
 * Other callers wait until the transaction has ended; calls on one connection take turns. Define the sequence like any other, and do not also draw blocks from it: blocks
 * leave gaps.
 *
 * @throws InvalidOptionError when no transaction is open, `transaction` is a pool and not a connection, or MySQL keeps the table in a
 * storage engine without transactions
 * @throws NoSuchSequenceError when the sequence is not defined
 * @throws SequenceExhaustedError when all ids are used
 * @throws StoreError when the database fails; roll back then
 *
 * @example
 * await client.query('BEGIN');
 * const number = await gapless('invoices', client);
 * await client.query('INSERT INTO invoices (number, …) VALUES ($1, …)', [number, …]);
 * await client.query('COMMIT');
 */
export async function gapless(sequenceName: string, transaction: GaplessTransaction): Promise<bigint> {
  requireStoredName(sequenceName);
  if (typeof transaction !== 'object' || transaction === null) refuse(...CONNECTION, transaction);
  return inTurn(transaction, () => takeNumber(sequenceName, transaction));
}

/** The last call on each connection. */
const calls = new WeakMap<object, Promise<unknown>>();

/** Runs calls on one connection one after the other: the steps of two calls would get in each other's way. */
function inTurn<T>(connection: object, call: () => Promise<T>): Promise<T> {
  const result = (calls.get(connection) ?? Promise.resolve()).then(call);
  calls.set(
    connection,
    result.catch(() => {}),
  );
  return result;
}

async function takeNumber(sequenceName: string, transaction: GaplessTransaction): Promise<bigint> {
  const rows = await lockedRows(transaction);
  const row = await rows.read(sequenceName);
  if (row === undefined) throw new NoSuchSequenceError(`there is no sequence ${show(sequenceName)}`);
  // One number, with any block size.
  const taken = takeBlocks({ ...row, blockSize: 1 }, 1);
  if (!(await rows.swap(row, marked({ ...taken.row, blockSize: row.blockSize }))))
    throw new StoreError(
      `sequence ${show(sequenceName)} was changed although its row is locked: roll back and try again`,
    );
  return taken.block.first;
}

const run: SqlRun = async (operation, statement) => {
  try {
    return await statement();
  } catch (error) {
    throw storeError(`gapless: ${operation}`, error);
  }
};

/** Sequence rows inside the transaction. A row that is read stays locked until the transaction ends. */
async function lockedRows(transaction: GaplessTransaction): Promise<SequenceRows> {
  const has = (method: string) =>
    typeof (transaction as unknown as Record<string, unknown> | undefined)?.[method] === 'function';
  if (has('prepare') && has('exec')) return sqliteLocked(transaction as SqliteConnection);
  if (has('query') && has('beginTransaction')) return mysqlLocked(transaction as MysqlClient);
  if (has('query') && !has('getConnection') && !('totalCount' in transaction))
    return postgresLocked(transaction as PostgresClient);
  refuse(...CONNECTION, transaction);
}

/** A name that no savepoint of the user has. */
const savepoint = () => `idsmith_${crypto.randomUUID().replaceAll('-', '')}`;

const forUpdate = (sql: string) => (sql.startsWith('SELECT') ? `${sql} FOR UPDATE` : sql);

async function postgresLocked(client: PostgresClient): Promise<SequenceRows> {
  const rowsOf = async (sql: string, values: unknown[] = []) =>
    (await client.query(forUpdate(sql), values)).rows;
  const NO_ACTIVE_SQL_TRANSACTION = '25P01';
  try {
    // PostgreSQL refuses a savepoint outside of a transaction.
    const name = savepoint();
    await client.query(`SAVEPOINT ${name}`, []);
    await client.query(`RELEASE SAVEPOINT ${name}`, []);
  } catch (error) {
    if ((error as { code?: unknown }).code === NO_ACTIVE_SQL_TRANSACTION) throw noTransaction();
    throw storeError('gapless: looking for the transaction', error);
  }
  return postgresRows(run, { rowsOf });
}

async function mysqlLocked(connection: MysqlClient): Promise<SequenceRows> {
  const query = async (sql: string, values: unknown[] = []) =>
    (await connection.query(forUpdate(sql), values))[0];
  const columns = mysqlColumns();
  const ER_SP_DOES_NOT_EXIST = 1305;
  try {
    // Outside of a transaction, a savepoint ends with its own statement.
    const name = savepoint();
    await query(`SAVEPOINT ${name}`);
    await query(`RELEASE SAVEPOINT ${name}`);
  } catch (error) {
    if ((error as { errno?: unknown }).errno === ER_SP_DOES_NOT_EXIST) throw noTransaction();
    throw storeError('gapless: looking for the transaction', error);
  }
  await run('looking at the table', async () => {
    await requireTransactions(query);
    columns.learn(await showColumns(query));
  });
  return mysqlRows(run, { query, columns, isLocked: true });
}

async function sqliteLocked(db: SqliteConnection): Promise<SequenceRows> {
  let wasOpen = true;
  try {
    // SQLite refuses BEGIN inside a transaction.
    db.exec('BEGIN');
    wasOpen = false;
    db.exec('ROLLBACK');
  } catch {
    // The transaction is open.
  }
  if (!wasOpen) throw noTransaction();
  const rowsOf = (sql: string, values: string[]) => db.prepare(sql).all(...values);
  // Begin to write now: SQLite refuses the first write of a transaction that has only read, if another connection has written since.
  // Not with a prepared statement, which libsql leaves half open when it meets a lock.
  await run('locking the file', () => db.exec('UPDATE id_sequences SET name = name WHERE 0'));
  return sqliteRows((what, build, make) =>
    run(what, () => {
      const { sql, values } = build();
      return make(rowsOf(sql, values as string[]));
    }),
  );
}

function noTransaction(): InvalidOptionError {
  return new InvalidOptionError(
    'transaction must be open: without a transaction, a rollback cannot give the number back. Run BEGIN on this connection first',
  );
}
