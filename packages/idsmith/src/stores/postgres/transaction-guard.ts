import { StoreError } from '../../errors.js';
import type { DriverError } from '../../support/store-error.js';
import { plainText } from '../sql/values.js';
import type { RowsOf } from './client.js';

/**
 * An SQL condition that holds for a statement which is a transaction of its own: both begin at the same moment. A statement
 * inside an open transaction begins later than the transaction. The condition works only for a statement that is sent as one
 * message. A statement with parameters is sent as several messages, and the first of them begins the transaction.
 */
export const OUTSIDE_TRANSACTION = 'transaction_timestamp() = statement_timestamp()';

const PLACE = `CASE WHEN ${OUTSIDE_TRANSACTION} THEN 'outside' ELSE 'inside' END`;

const SYNTAX_ERROR = '42601';

/** Runs changes so that nobody else's rollback can undo them. */
export interface TransactionGuard {
  /**
   * Learns how the driver sends statements. Call this before creating tables.
   *
   * @throws StoreError inside a transaction, whose rollback would undo the tables, too
   */
  prepare(): Promise<void>;
  /**
   * Runs a statement that has {@link OUTSIDE_TRANSACTION} among its conditions. Gives the rows of its `RETURNING`, which is
   * one column.
   *
   * @throws StoreError inside a transaction; the statement has changed nothing there
   */
  change(text: string, values: readonly unknown[]): Promise<unknown[]>;
}

/** The guard of a client, by the function that sends its statements. */
export function transactionGuard(rowsOf: RowsOf): TransactionGuard {
  let isSingle: Promise<boolean> | undefined;
  const learn = () => {
    isSingle ??= sendsSingleMessages(rowsOf).catch((error) => {
      isSingle = undefined;
      throw error;
    });
    return isSingle;
  };
  return {
    async prepare() {
      if (!(await learn())) return;
      const [row] = await rowsOf(`SELECT ${PLACE} AS place`);
      requireOutside(Object.values(row as object)[0]);
    },
    async change(text, values) {
      if (!(await learn())) return rowsOf(text.replaceAll(OUTSIDE_TRANSACTION, 'TRUE'), [...values]);
      const [row] = await rowsOf(
        `WITH changed AS (${withLiterals(text, values)})
        SELECT (SELECT * FROM changed) AS answer, ${PLACE} AS place`,
      );
      const [answer, place] = Object.values(row as object);
      requireOutside(place);
      return answer === null ? [] : [[answer]];
    },
  };
}

/** Tells whether the driver sends a statement without values as one message. Only such a message may hold two statements. */
async function sendsSingleMessages(rowsOf: RowsOf): Promise<boolean> {
  try {
    await rowsOf('SELECT 1; SELECT 1');
    return true;
  } catch (error) {
    if ((error as DriverError).code === SYNTAX_ERROR) return false;
    throw error;
  }
}

/**
 * The statement with its values in the place of `$1`, `$2` …
 *
 * @throws RangeError when a value has a NUL, which text in PostgreSQL cannot have
 */
export function withLiterals(text: string, values: readonly unknown[]): string {
  return text.replace(/\$(\d+)/g, (_place, n) => literal(values[Number(n) - 1]));
}

/** A value as an SQL literal. The literal takes the type that its place asks for, and is safe with any rule for backslashes. */
function literal(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  const text = String(value);
  if (text.includes('\0')) throw new RangeError('text must not have a NUL character');
  return `E'${text.replace(/['\\]/g, (character) => character + character)}'`;
}

function requireOutside(place: unknown): void {
  if (plainText(place) === 'outside') return;
  throw new StoreError(
    'postgres store: the connection is inside an open transaction, whose rollback would undo the change and repeat ids. ' +
      'End every transaction before its connection goes back to the pool, or give the store a pool of its own',
  );
}
