import { InvalidOptionError } from '../errors.js';
import type { SqlDialect, SqlExecutor } from './port.js';
import { type Foreign, isForeign } from './shapes.js';

type Query = SqlExecutor['query'];

/** ER_SP_DOES_NOT_EXIST */
const NO_SUCH_SAVEPOINT = 1305;

/** A name that nobody else uses. */
const freshName = () => `idsmith_${crypto.randomUUID().replaceAll('-', '')}`;

/** Asks the database whether statements run inside an open transaction. Changes nothing, also when others use the connection. */
export const askTransaction: Record<SqlDialect, (query: Query) => Promise<boolean>> = {
  /** A setting for the rest of a transaction ends with its own statement when no transaction is open. */
  async postgres(query) {
    const token = freshName();
    await query(`SELECT set_config('idsmith.transaction', $1, true) AS token`, [token]);
    const [row] = await query(`SELECT current_setting('idsmith.transaction', true) AS token`);
    return firstOf(row) === token;
  },

  /** MariaDB tells; MySQL skips the comment. A savepoint ends with its own statement when no transaction is open. */
  async mysql(query) {
    const [told] = await query('SELECT 1 AS one /*M!100300 , CAST(@@in_transaction AS CHAR) AS open */');
    if (String(Object.values(told ?? {})[1]) === '1') return true;
    const name = freshName();
    await query(`SAVEPOINT ${name}`);
    try {
      await query(`RELEASE SAVEPOINT ${name}`);
      return true;
    } catch (error) {
      if (
        errorsIn(error).some(({ errno, message }) => errno === NO_SUCH_SAVEPOINT || isMissing(message, name))
      )
        return false;
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
      return false;
    } catch (error) {
      if (errorsIn(error).some(({ message }) => /inside a transaction/i.test(String(message)))) return true;
      throw error;
    }
  },
};

/**
 * Checks that a transaction is open.
 *
 * @throws InvalidOptionError when none is open
 */
export async function requireTransaction(executor: SqlExecutor): Promise<void> {
  if (await executor.inTransaction()) return;
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
