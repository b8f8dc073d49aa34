import { bytesToHex } from '../../encoding/hex.js';
import type { Move, SequenceRow } from '../../sequence/blocks.js';
import type { SequenceRows } from '../../sequence/rows.js';
import type { DriverError, SqlRun } from '../sql.js';
import { sqlRows } from './sql.js';
import { setUpTable } from './table.js';

/** Sends a statement and gives what the driver makes of the answer. */
type Query = (sql: string, values?: unknown[]) => Promise<unknown>;

// Where the server can hide columns, other programs go on to insert four values without saying which: in MySQL since
// 8.0.23 and in MariaDB, which skips the first of these comments, since 10.3.
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
/** ER_DBACCESS_DENIED, ER_TABLEACCESS_DENIED, ER_SPECIFIC_ACCESS_DENIED */
const FORBIDDEN: readonly unknown[] = [1044, 1142, 1227];

/** How far `next_block_start` may be from where it was last seen, either way, so that the distance fits a number. */
const REACH = 2n ** 52n - 1n;

/** Makes `id_sequences` in the connection's database, or completes the one that is there. */
export function setUpMysqlTable(query: Query): Promise<void> {
  const columns = async () => {
    try {
      return (await query('SHOW COLUMNS FROM id_sequences')) as unknown[];
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
  return setUpTable({ columns, execute: query, isDone, isForbidden }, STYLE);
}

/**
 * Rows in MySQL or MariaDB, where an update gives no rows. What it gives is the number in `LAST_INSERT_ID`: here it is the
 * distance of `next_block_start` from `low`, plus one, so that 0 says that no row was found. It is exact whatever the
 * driver does to large numbers, and says so also of an update that changed nothing.
 *
 * @param isLocked that the row is locked, so that a swap needs no such answer: the connection is somebody's, whose own
 * `LAST_INSERT_ID` must stay
 */
export function mysqlRows(run: SqlRun, query: Query, { isLocked = false } = {}): SequenceRows {
  const rows = sqlRows({
    integer: () => 'CAST(? AS SIGNED)',
    // Bytes are sent as they are; said to be UTF-8, they are compared by the rules of the column, with its index.
    name: () => '_utf8mb4 ?',
    nameValue: hexLiteral,
    text: (expression) => `CAST(${expression} AS CHAR)`,
    nameText: 'CAST(CONVERT(name USING utf8mb4) AS BINARY)',
    isExhausted: 'exhausted <> 0',
    moved: (low, next) =>
      isLocked ? next() : `IF(LAST_INSERT_ID(next_block_start - ${low()} + 1), ${next()}, 0)`,
    inserted: '',
    updated: '',
    deleted: '',
    before: (answer, { low }) => low + answer - 1n,
    run: (what, sql, values, make) => run(what, async () => make(await outcome(() => query(sql, values)))),
  });
  return { ...rows, advance: (from, move, to) => rows.advance(from, within(REACH, from, move), to) };
}

/** Text as the bytes of its UTF-8, in the driver's own way to be told how a value is written. */
function hexLiteral(text: string): { toSqlString(): string } {
  return { toSqlString: () => `X'${bytesToHex(new TextEncoder().encode(text))}'` };
}

/** The rows of a query; of any other statement, a row if it has found one. */
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

function within(reach: bigint, { next }: SequenceRow, { delta, low, high }: Move): Move {
  const [lowest, highest] = [next - reach, next + reach];
  return { delta, low: low > lowest ? low : lowest, high: high < highest ? high : highest };
}
