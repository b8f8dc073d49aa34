import { StoreError } from '../../errors.js';
import type { SqlDriver } from '../../executor/driver.js';
import type { SqlValue } from '../../executor/port.js';
import type { DriverError } from '../../support/store-error.js';
import type { SqlAccess } from '../sql/access.js';
import { requireNoTransaction } from '../sql/adapter-transactions.js';
import { plainText } from '../sql/values.js';
import type { RowsOf } from './client.js';

/**
 * An SQL condition that holds for a statement which is a transaction of its own: both begin at the same moment. A statement
 * inside an open transaction begins later than the transaction. The condition works only for a statement that is sent as one
 * message. A statement with parameters is sent as several messages, and the first of them begins the transaction.
 */
export const OUTSIDE_TRANSACTION = 'transaction_timestamp() = statement_timestamp()';

const PLACE = `CASE WHEN ${OUTSIDE_TRANSACTION} THEN 'outside' ELSE 'inside' END`;

// Where the default isolation is stricter, an update that meets another one would fail and have to be repeated. This statement
// must be the first of a transaction. Inside somebody's transaction it fails, or it has weakened that transaction, which must
// not go on then: a text that is no number ends the transaction.
const READ_COMMITTED = 'SET TRANSACTION ISOLATION LEVEL READ COMMITTED; ';
const PLACE_OR_END = `CASE WHEN ${OUTSIDE_TRANSACTION} THEN 'outside'
  ELSE CAST(CAST(current_setting('transaction_isolation') AS integer) AS text) END`;
/** active_sql_transaction, invalid_text_representation */
const INSIDE: readonly unknown[] = ['25001', '22P02'];

const SYNTAX_ERROR = '42601';
const SERIALIZATION_FAILURE = '40001';

/**
 * The server's own limits for the next statement of the message, somewhat shorter than the caller's. So a statement ends with
 * an answer, and does not wait for a lock after its caller has gone. They hold until the end of the statement's transaction, and
 * leave somebody else's transaction as it is.
 */
const limits = (left: number) =>
  `SELECT set_config('lock_timeout', '${Math.ceil(left * 0.8)}', true),
    set_config('statement_timeout', '${Math.ceil(left * 0.9)}', true) WHERE ${OUTSIDE_TRANSACTION}; `;

/** Runs changes so that nobody else's rollback can undo them. */
export interface TransactionGuard {
  /**
   * Learns how the driver sends statements. Call this before creating tables.
   *
   * @throws StoreError inside a transaction, whose rollback would undo the tables, too
   */
  prepare(): Promise<void>;
  /** Runs a query. */
  read(text: string, values?: readonly SqlValue[]): Promise<readonly unknown[]>;
  /**
   * Runs a statement that has {@link OUTSIDE_TRANSACTION} among its conditions, at READ COMMITTED. Gives the rows of its
   * `RETURNING`, which is one column.
   *
   * @throws StoreError inside a transaction; the statement has changed nothing there
   */
  change(text: string, values: readonly SqlValue[]): Promise<readonly unknown[]>;
}

/** The guard of a client, by the function that sends its statements. */
export function transactionGuard(rowsOf: RowsOf): TransactionGuard {
  let isSingle: Promise<boolean> | undefined;
  /** True when transactions are stricter than READ COMMITTED by default. */
  let isStrict = false;
  const learn = () => {
    isSingle ??= sendsSingleMessages(rowsOf).catch((error) => {
      isSingle = undefined;
      throw error;
    });
    return isSingle;
  };

  async function changeAlone(text: string, values: readonly SqlValue[]): Promise<unknown[]> {
    const wasStrict = isStrict;
    try {
      const [row] = await rowsOf(
        `WITH changed AS (${withLiterals(text, values)})
        SELECT (SELECT * FROM changed) AS answer, ${wasStrict ? PLACE_OR_END : PLACE} AS place`,
        [],
        (left) => (wasStrict ? READ_COMMITTED : '') + limits(left),
      );
      const [answer, place] = Object.values(row as object);
      requireOutside(place);
      return answer === null ? [] : [[answer]];
    } catch (error) {
      const { code } = (error ?? {}) as DriverError;
      if (code === SERIALIZATION_FAILURE) isStrict = true;
      if (wasStrict && INSIDE.includes(code)) requireOutside('inside', error);
      throw error;
    }
  }

  return {
    async prepare() {
      if (!(await learn())) return;
      const [row] = await rowsOf(
        `SELECT ${PLACE} AS place, current_setting('default_transaction_isolation') AS isolation`,
      );
      const [place, isolation] = Object.values(row as object).map(plainText);
      requireOutside(place);
      isStrict = isolation !== 'read committed' && isolation !== 'read uncommitted';
    },
    async read(text, values = []) {
      return (await learn()) ? rowsOf(withLiterals(text, values), [], limits) : rowsOf(text, values);
    },
    async change(text, values) {
      if (await learn()) return changeAlone(text, values);
      return rowsOf(unguarded(text), values);
    },
  };
}

/** The guard of an adapter of the user's own, whose transactions are sent by the adapter. */
export function adapterGuard(
  driver: SqlDriver,
  rowsOf: RowsOf,
  access: SqlAccess | undefined,
): TransactionGuard {
  const { transact } = access as SqlAccess;
  return {
    prepare: () => requireNoTransaction(driver),
    read: rowsOf,
    change: (text, values) => transact(({ query }) => query(unguarded(text), values)),
  };
}

const unguarded = (text: string) => text.replaceAll(OUTSIDE_TRANSACTION, 'TRUE');

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

function requireOutside(place: unknown, cause?: unknown): void {
  if (plainText(place) === 'outside') return;
  throw new StoreError(
    'postgres store: the connection is inside an open transaction, whose rollback would undo the change and repeat ids. ' +
      'End every transaction before its connection goes back to the pool, or give the store a pool of its own',
    cause === undefined ? {} : { cause },
  );
}
