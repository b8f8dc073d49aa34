import { InvalidOptionError } from '../errors.js';
import { type Foreign, isForeign } from './driver.js';
import type { SqlDialect, SqlExecutor } from './port.js';

type Query = SqlExecutor['query'];

/** A transaction that is open. */
export interface OpenTransaction {
  /** The name of its connection, which is the same for all objects that stand for the connection. SQLite has none. */
  readonly connection?: string | undefined;
}

/** An executor that can also tell the connection of its transaction. */
export interface CheckedExecutor extends SqlExecutor {
  /** The transaction that is open; `undefined` if there is none. */
  transaction(): Promise<OpenTransaction | undefined>;
}

/** ER_SP_DOES_NOT_EXIST */
const NO_SUCH_SAVEPOINT = 1305;

/** The name of a savepoint that nobody else uses. */
const savepointName = () => `idsmith_${crypto.randomUUID().replaceAll('-', '')}`;

/**
 * Asks the database whether statements run inside an open transaction. Changes nothing, also when others use the connection. Tells the
 * connection, where the database has a name for it; `undefined` if no transaction is open.
 */
export const askTransaction: Record<SqlDialect, (query: Query) => Promise<OpenTransaction | undefined>> = {
  /**
   * A setting for the rest of a transaction ends with its own statement when no transaction is open. Its value names the connection and
   * the transaction, so that all who ask at once write the same.
   */
  async postgres(query) {
    const name = `concat(pg_backend_pid(), ' ', extract(epoch FROM transaction_timestamp()))`;
    const [written] = await query(`SELECT set_config('idsmith.transaction', ${name}, true) AS name`);
    const [read] = await query(`SELECT current_setting('idsmith.transaction', true) AS name`);
    const connection = firstOf(written);
    return connection !== undefined && connection === firstOf(read)
      ? { connection: String(connection) }
      : undefined;
  },

  /** MariaDB tells; MySQL skips the comment. A savepoint ends with its own statement when no transaction is open. */
  async mysql(query) {
    const [told] = await query(
      `SELECT CONCAT_WS(' ', @@hostname, @@port, CONNECTION_ID()) AS name /*M!100300 , CAST(@@in_transaction AS CHAR) AS open */`,
    );
    const [connection, isOpen] = Object.values(told ?? {}).map(String);
    if (isOpen === '1') return { connection };
    const name = savepointName();
    await query(`SAVEPOINT ${name}`);
    try {
      await query(`RELEASE SAVEPOINT ${name}`);
      return { connection };
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
  throw new InvalidOptionError(
    'transaction must be open: without a transaction, a rollback cannot give the number back. Run BEGIN first, on a connection ' +
      "and not on a pool, or take the object that your ORM's own transaction gives you",
  );
}

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
