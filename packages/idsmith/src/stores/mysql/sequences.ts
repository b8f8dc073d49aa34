import { bytesToHex } from '../../encoding/hex.js';
import { InvalidOptionError, StoreError } from '../../errors.js';
import type { Move, SequenceRow } from '../../sequence/blocks.js';
import type { SequenceRows } from '../../sequence/rows.js';
import { Columns } from '../sql/columns.js';
import { type DriverError, plainText, type SqlRun } from '../sql/runner.js';
import { sqlRows } from '../sql/sequences.js';
import { definitionOf, setUpTable } from '../sql/table.js';
import { ALONE } from './connection.js';

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

/** Storage engines that keep rows in memory, or nowhere. */
const FORGETFUL = ['MEMORY', 'HEAP', 'BLACKHOLE'];

/** How far `next_block_start` may be from where it was last seen, either way, so that the distance fits a number. */
const REACH = 2n ** 52n - 1n;

/** What the columns of `id_sequences` hold, for somebody to learn. */
export const mysqlColumns = () =>
  new Columns((column) => `ALTER TABLE id_sequences MODIFY ${column} ${definitionOf(column, STYLE)}`);

/** The columns of `id_sequences`; each row begins with a name and a type. */
export const showColumns = async (query: Query) =>
  (await query('SHOW COLUMNS FROM id_sequences')) as unknown[];

/** Makes `id_sequences` in the connection's database, or completes the one that is there. */
export async function setUpMysqlTable(query: Query, known: Columns): Promise<void> {
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
  known.learn(await setUpTable({ columns, execute: query, isDone, isForbidden }, STYLE));
  const engine = await engineOf(query);
  if (engine !== undefined && FORGETFUL.includes(engine.name.toUpperCase()))
    throw new StoreError(
      `id_sequences is kept by the storage engine ${engine.name}, which forgets it when the server restarts, and ids would ` +
        'come again: run ALTER TABLE id_sequences ENGINE = InnoDB',
    );
}

/** How statements are sent, and what is known of the table. */
interface MysqlTable {
  query: Query;
  columns: Columns;
  /**
   * That the row is locked in somebody's transaction, so that a swap needs no answer in `LAST_INSERT_ID`: the connection's own
   * must stay.
   */
  isLocked?: boolean;
}

/**
 * Rows in MySQL or MariaDB, where an update gives no rows. What it gives is the number in `LAST_INSERT_ID`: here it is the
 * distance of `next_block_start` from `low`, plus one, so that 0 says that no row was found. It is exact whatever the
 * driver does to large numbers, and says so also of an update that changed nothing.
 */
export function mysqlRows(run: SqlRun, { query, columns, isLocked = false }: MysqlTable): SequenceRows {
  const rows = sqlRows({
    columns,
    integer: () => 'CAST(? AS SIGNED)',
    // Bytes are sent as they are; said to be UTF-8, they are compared by the rules of the column, with its index.
    name: () => '_utf8mb4 ?',
    nameValue: hexLiteral,
    text: (expression) => `CAST(${expression} AS CHAR)`,
    nameText: 'CAST(CONVERT(name USING utf8mb4) AS BINARY)',
    isExhausted: 'exhausted <> 0',
    moved: (low, next) =>
      isLocked ? next() : `IF(LAST_INSERT_ID(next_block_start - ${low()} + 1), ${next()}, 0)`,
    row: (values) => (isLocked ? `VALUES (${values})` : `SELECT ${values} FROM DUAL WHERE ${ALONE}`),
    alone: isLocked ? '' : ` AND ${ALONE}`,
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

const ENGINE = `SELECT t.engine, e.transactions FROM information_schema.tables t
  LEFT JOIN information_schema.engines e ON e.engine = t.engine
  WHERE t.table_schema = DATABASE() AND t.table_name = 'id_sequences'`;

/** The storage engine of `id_sequences`; `undefined` of a view or a temporary table. */
async function engineOf(query: Query): Promise<{ name: string; hasTransactions: boolean } | undefined> {
  const [row] = (await query(ENGINE)) as unknown[];
  const [name, transactions] = row === undefined ? [] : Object.values(row as object);
  if (name === null || name === undefined) return undefined;
  return { name: plainText(name), hasTransactions: plainText(transactions) === 'YES' };
}

/** @throws InvalidOptionError naming the storage engine of `id_sequences` if a rollback does not give a number back there */
export async function requireTransactions(query: Query): Promise<void> {
  const engine = await engineOf(query);
  if (engine === undefined || engine.hasTransactions) return;
  throw new InvalidOptionError(
    `transaction must be on a table that has transactions: id_sequences is kept by the storage engine ${engine.name}, which has ` +
      'none, and a rollback would leave a gap. Run ALTER TABLE id_sequences ENGINE = InnoDB',
  );
}
