import { InvalidOptionError, StoreError } from '../../errors.js';
import type { Move, SequenceRow } from '../../sequence/blocks.js';
import type { SequenceRows } from '../../sequence/rows.js';
import type { DriverError } from '../../support/store-error.js';
import { Columns } from '../sql/columns.js';
import { sqlRows } from '../sql/sequences.js';
import type { RunStatement } from '../sql/statement.js';
import { columnDefinition, setUpTable } from '../sql/table.js';
import { plainText } from '../sql/values.js';
import { hexOf, type Query } from './client.js';
import { OUTSIDE_TRANSACTION } from './transaction-guard.js';

// Other programs insert four values without naming the columns. Invisible columns let them go on to do so. MySQL has such
// columns since 8.0.23, MariaDB since 10.3. MariaDB skips the first of these comments.
const INVISIBLE = ' /*!80023 INVISIBLE *//*M!100300 INVISIBLE */';

const STYLE = {
  name: 'VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
  own: INVISIBLE,
  options: ' ENGINE = InnoDB ROW_FORMAT = DYNAMIC',
};

const ER_TABLE_EXISTS = 1050;
const ER_DUP_FIELDNAME = 1060;
const ER_NO_SUCH_TABLE = 1146;
const ER_LOCK_WAIT_TIMEOUT = 1205;
/** ER_DBACCESS_DENIED, ER_TABLEACCESS_DENIED, ER_SPECIFIC_ACCESS_DENIED */
const FORBIDDEN: readonly unknown[] = [1044, 1142, 1227];

/** Storage engines that keep rows in memory, or nowhere. */
const FORGETFUL = ['MEMORY', 'HEAP', 'BLACKHOLE'];

/** The longest way of `next_block_start` from its last known value, in either direction. The distance must fit a number. */
const REACH = 2n ** 52n - 1n;

/** The ranges of the columns of `id_sequences`, which {@link setUpSequenceTable} fills in. */
export const mysqlColumns = () =>
  new Columns((column) => `ALTER TABLE id_sequences MODIFY ${column} ${columnDefinition(column, STYLE)}`);

/** The columns of `id_sequences`. Each row begins with a name and a type. */
export const showColumns = (query: Query) => query('SHOW COLUMNS FROM id_sequences');

/**
 * Creates `id_sequences` in the connection's database, or adds the columns that an existing table lacks. Marks the schema before such
 * a change.
 */
export async function setUpSequenceTable(
  query: Query,
  known: Columns,
  mark: () => Promise<void>,
): Promise<void> {
  const columns = async () => {
    try {
      return await showColumns(query);
    } catch (error) {
      if ((error as DriverError).errno === ER_NO_SUCH_TABLE) return [];
      throw error;
    }
  };
  const isDone = (error: unknown) => {
    const { errno } = error as DriverError;
    return errno === ER_TABLE_EXISTS || errno === ER_DUP_FIELDNAME;
  };
  const isForbidden = (error: unknown) => FORBIDDEN.includes((error as DriverError).errno);
  const isBusy = (error: unknown) => (error as DriverError).errno === ER_LOCK_WAIT_TIMEOUT;
  // A change that waits for its lock would make everybody wait behind it. MySQL skips the comment.
  const execute = async (sql: string) => {
    await mark();
    return query(sql.replace(/^ALTER TABLE id_sequences /, 'ALTER TABLE id_sequences /*M!100300 NOWAIT */ '));
  };
  known.learn(await setUpTable({ columns, execute, isBusy, isDone, isForbidden }, STYLE));
  const engine = await engineOf(query);
  if (engine !== undefined && FORGETFUL.includes(engine.name.toUpperCase()))
    throw new StoreError(
      `id_sequences is in the storage engine ${engine.name}, which loses its rows when the server restarts, so ids would ` +
        'repeat: run ALTER TABLE id_sequences ENGINE = InnoDB',
    );
}

/**
 * Sequence rows in MySQL or MariaDB, where an update gives no rows. An update gives the number in `LAST_INSERT_ID`. Here this
 * number is the distance of `next_block_start` from `low`, plus one; 0 means that no row was found. The number is exact with
 * every setting of the driver, and also correct for an update that changed nothing.
 *
 * @param isLocked true if the row is locked in the caller's transaction. A swap then leaves `LAST_INSERT_ID`, whose value on the
 * caller's connection must stay, and looks at the row again.
 */
export function mysqlRows(run: RunStatement, columns: Columns, isLocked = false): SequenceRows {
  const rows = sqlRows({
    columns,
    integer: () => 'CAST(? AS SIGNED)',
    // Bytes are sent unchanged. Declared as UTF-8, they are compared by the rules of the column, with its index.
    name: (name) => `_utf8mb4 X'${hexOf(name)}'`,
    text: (expression) => `CAST(${expression} AS CHAR)`,
    nameText: 'CAST(CONVERT(name USING utf8mb4) AS BINARY)',
    isExhausted: 'exhausted <> 0',
    moved: (low, next) =>
      isLocked ? next() : `IF(LAST_INSERT_ID(next_block_start - ${low()} + 1), ${next()}, 0)`,
    row: (values) =>
      isLocked ? `VALUES (${values})` : `SELECT ${values} FROM DUAL WHERE ${OUTSIDE_TRANSACTION}`,
    outsideTransaction: isLocked ? '' : ` AND ${OUTSIDE_TRANSACTION}`,
    inserted: '',
    updated: '',
    deleted: '',
    before: (answer, { low }) => low + answer - 1n,
    run,
  });
  return {
    ...rows,
    advance: (from, move, to) => rows.advance(from, limited(REACH, from, move), to),
    ...(isLocked && {
      async swap(expected, next) {
        await rows.swap(expected, next);
        return (await rows.read(next.name))?.mark === next.mark;
      },
    }),
  };
}

/** The move for the values of `next_block_start` that are at most `reach` away. */
function limited(reach: bigint, { next }: SequenceRow, { delta, low, high }: Move): Move {
  const [lowest, highest] = [next - reach, next + reach];
  return { delta, low: low > lowest ? low : lowest, high: high < highest ? high : highest };
}

const ENGINE = `SELECT t.engine, e.transactions FROM information_schema.tables t
  LEFT JOIN information_schema.engines e ON e.engine = t.engine
  WHERE t.table_schema = DATABASE() AND t.table_name = 'id_sequences'`;

/** The storage engine of `id_sequences`; `undefined` for a view or a temporary table. */
async function engineOf(query: Query): Promise<{ name: string; hasTransactions: boolean } | undefined> {
  const [row] = await query(ENGINE);
  const [name, transactions] = row === undefined ? [] : Object.values(row as object);
  if (name === null || name === undefined) return undefined;
  return { name: plainText(name), hasTransactions: plainText(transactions) === 'YES' };
}

/** @throws InvalidOptionError naming the storage engine of `id_sequences`, if the engine has no transactions */
export async function requireTransactions(query: Query): Promise<void> {
  const engine = await engineOf(query);
  if (engine === undefined || engine.hasTransactions) return;
  throw new InvalidOptionError(
    `transaction must be on a table that has transactions: id_sequences is in the storage engine ${engine.name}, which has ` +
      'none, so a rollback would leave a gap. Run ALTER TABLE id_sequences ENGINE = InnoDB',
  );
}
