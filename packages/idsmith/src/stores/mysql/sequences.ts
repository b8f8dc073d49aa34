import { bytesToHex } from '../../encoding/hex.js';
import { InvalidOptionError, StoreError } from '../../errors.js';
import type { Move, SequenceRow } from '../../sequence/blocks.js';
import type { SequenceRows } from '../../sequence/rows.js';
import type { DriverError } from '../../support/store-error.js';
import { Columns } from '../sql/columns.js';
import type { SqlRun } from '../sql/runner.js';
import { sqlRows } from '../sql/sequences.js';
import { columnDefinition, setUpTable } from '../sql/table.js';
import { plainText } from '../sql/values.js';
import type { Query } from './client.js';
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
const ER_DUP_ENTRY = 1062;
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
export const showColumns = async (query: Query) =>
  (await query('SHOW COLUMNS FROM id_sequences')) as unknown[];

/** Creates `id_sequences` in the connection's database, or adds the columns that an existing table lacks. */
export async function setUpSequenceTable(query: Query, known: Columns): Promise<void> {
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
  const execute = (sql: string) =>
    query(sql.replace(/^ALTER TABLE id_sequences /, 'ALTER TABLE id_sequences /*M!100300 NOWAIT */ '));
  known.learn(await setUpTable({ columns, execute, isBusy, isDone, isForbidden }, STYLE));
  const engine = await engineOf(query);
  if (engine !== undefined && FORGETFUL.includes(engine.name.toUpperCase()))
    throw new StoreError(
      `id_sequences is in the storage engine ${engine.name}, which loses its rows when the server restarts, so ids would ` +
        'repeat: run ALTER TABLE id_sequences ENGINE = InnoDB',
    );
}

/** The function that sends statements, and the ranges of the columns. */
interface MysqlTable {
  query: Query;
  columns: Columns;
  /**
   * True when the row is locked in the caller's transaction. A swap then needs no answer in `LAST_INSERT_ID`, whose value on the
   * caller's connection must stay.
   */
  isLocked?: boolean;
}

/**
 * Sequence rows in MySQL or MariaDB, where an update gives no rows. An update gives the number in `LAST_INSERT_ID`. Here this
 * number is the distance of `next_block_start` from `low`, plus one; 0 means that no row was found. The number is exact with
 * every setting of the driver, and also correct for an update that changed nothing.
 */
export function mysqlRows(run: SqlRun, { query, columns, isLocked = false }: MysqlTable): SequenceRows {
  const rows = sqlRows({
    columns,
    integer: () => 'CAST(? AS SIGNED)',
    // Bytes are sent unchanged. Declared as UTF-8, they are compared by the rules of the column, with its index.
    name: () => '_utf8mb4 ?',
    nameValue: hexLiteral,
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
    run: (what, build, make) =>
      run(what, async () => {
        const { sql, values } = build();
        return make(await outcome(() => query(sql, values)));
      }),
  });
  return { ...rows, advance: (from, move, to) => rows.advance(from, limited(REACH, from, move), to) };
}

/** Text as the bytes of its UTF-8. The driver writes a value with this method as the method says. */
function hexLiteral(text: string): { toSqlString(): string } {
  return { toSqlString: () => `X'${bytesToHex(new TextEncoder().encode(text))}'` };
}

/** The rows of a query. For any other statement, one row if the statement found one. */
async function outcome(ask: () => Promise<unknown>): Promise<unknown[]> {
  try {
    const result = await ask();
    if (Array.isArray(result)) return result;
    const { insertId, affectedRows } = result as { insertId: unknown; affectedRows: unknown };
    const answer = Number(insertId) || Number(affectedRows);
    return answer === 0 ? [] : [[answer]];
  } catch (error) {
    // `INSERT IGNORE` would turn every other error into a warning, too.
    if ((error as DriverError).errno === ER_DUP_ENTRY) return [];
    throw error;
  }
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
  const [row] = (await query(ENGINE)) as unknown[];
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
