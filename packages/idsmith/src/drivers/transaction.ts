import { InvalidOptionError } from '../errors.js';
import { type Foreign, isForeign } from './driver.js';
import type { SqlDialect, SqlExecutor } from './port.js';

type Query = SqlExecutor['query'];

/** A transaction that is open. */
export interface OpenTransaction {
  /** The name of its connection, which is the same for all objects that stand for the connection. SQLite has none. */
  readonly connection?: string | undefined;
  /** The database of the connection in MySQL, among those of all servers. */
  readonly database?: string | undefined;
}

/** An executor that can also tell the connection of its transaction. */
export interface CheckedExecutor extends SqlExecutor {
  /** False if the object itself says that no transaction is open. Asks no database. */
  mayBeInside(): Promise<boolean>;
  /** The transaction that is open; `undefined` if there is none. */
  transaction(): Promise<OpenTransaction | undefined>;
}

/**
 * An expression of PostgreSQL that names the transaction and gives the name. A setting for the rest of a transaction ends with its own statement
 * when no transaction is open. The name is that of the connection and the transaction, so that all who ask at once write the same.
 */
export const NAME_TRANSACTION = `set_config('idsmith.transaction', concat(pg_backend_pid(), ' ', extract(epoch FROM transaction_timestamp())), true)`;

/** An expression of the name that {@link NAME_TRANSACTION} has given to the transaction. */
export const TRANSACTION_NAMED = `current_setting('idsmith.transaction', true)`;

/** An expression of the database of a connection in MySQL, among those of all servers. */
export const MYSQL_DATABASE = `CONCAT_WS(' ', @@hostname, @@port, DATABASE())`;

/** ER_SP_DOES_NOT_EXIST */
const NO_SUCH_SAVEPOINT = 1305;

/** The name of a savepoint that nobody else uses. */
const savepointName = () => `idsmith_${crypto.randomUUID().replaceAll('-', '')}`;

/**
 * Asks the database whether statements run inside an open transaction. Changes nothing, also when others use the connection. Tells the
 * connection, where the database has a name for it; `undefined` if no transaction is open.
 */
export const askTransaction: Record<SqlDialect, (query: Query) => Promise<OpenTransaction | undefined>> = {
  async postgres(query) {
    const [written] = await query(`SELECT ${NAME_TRANSACTION} AS name`);
    const [read] = await query(`SELECT ${TRANSACTION_NAMED} AS name`);
    const connection = firstOf(written);
    return connection !== undefined && connection === firstOf(read)
      ? { connection: String(connection) }
      : undefined;
  },

  /** MariaDB tells; MySQL skips the comment. A savepoint ends with its own statement when no transaction is open. */
  async mysql(query) {
    const [told] = await query(
      `SELECT CONCAT_WS(' ', @@hostname, @@port, CONNECTION_ID()) AS name, ${MYSQL_DATABASE} AS place /*M!100300 , CAST(@@in_transaction AS CHAR) AS open */`,
    );
    const [connection, database, isOpen] = Object.values(told ?? {}).map(String);
    if (isOpen === '1') return { connection, database };
    const name = savepointName();
    await query(`SAVEPOINT ${name}`);
    try {
      await query(`RELEASE SAVEPOINT ${name}`);
      return { connection, database };
    } catch (error) {
      if (
        errorsIn(error).some(({ errno, message }) => errno === NO_SUCH_SAVEPOINT || isMissing(message, name))
      )
        return undefined;
      throw error;
    }
  },

  /**
   * SQLite refuses a change of this setting inside a transaction. Outside, the setting stays as it was. A BEGIN would tell as
   * much, but would take statements that others send meanwhile into its transaction.
   */
  async sqlite(query) {
    const [row] = await query('PRAGMA synchronous');
    try {
      await query(`PRAGMA synchronous = ${Number(firstOf(row))}`);
      return undefined;
    } catch (error) {
      if (errorsIn(error).some(({ message }) => /inside a transaction/i.test(String(message)))) return {};
      throw error;
    }
  },
};

/**
 * The transaction that is open.
 *
 * @throws InvalidOptionError when none is open
 */
export async function requireTransaction(executor: CheckedExecutor): Promise<OpenTransaction> {
  const transaction = await executor.transaction();
  if (transaction !== undefined) return transaction;
  throw noTransaction();
}

export const noTransaction = () =>
  new InvalidOptionError(
    'transaction must be open: without a transaction, a rollback cannot give the number back. Run BEGIN first, on a connection ' +
      "and not on a pool, or take the object that your ORM's own transaction gives you",
  );

const firstOf = (row: Record<string, unknown> | undefined) => Object.values(row ?? {})[0];

const isMissing = (message: unknown, savepoint: string) =>
  String(message).includes(`${savepoint} does not exist`);

/** An error and the errors that it wraps. ORMs keep the driver's error under different names. */
export function errorsIn(error: unknown): Foreign[] {
  const found: Foreign[] = [];
  for (let next = error; isForeign(next) && !found.includes(next); ) {
    found.push(next);
    next = next.cause ?? next.original ?? next.driverError;
  }
  return found;
}
