import type { SequenceRows } from '../../sequence/rows.js';
import type { DriverError } from '../../support/store-error.js';
import { Columns } from '../sql/columns.js';
import { sqlRows } from '../sql/sequences.js';
import type { RunStatement } from '../sql/statement.js';
import { columnDefinition, setUpTable } from '../sql/table.js';
import type { RowsOf } from './client.js';
import { OUTSIDE_TRANSACTION } from './transaction-guard.js';

const STYLE = { name: 'VARCHAR(255) COLLATE "C"' };

const COLUMNS = `SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
  WHERE attrelid = to_regclass('id_sequences') AND attnum > 0 AND NOT attisdropped`;

/** unique_violation, duplicate_table, duplicate_object, duplicate_column: another process was quicker. */
const DONE_BY_ANOTHER: readonly unknown[] = ['23505', '42P07', '42710', '42701'];
const INSUFFICIENT_PRIVILEGE = '42501';
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * A change of the table that fails at once if somebody uses the table. A change that waits for its lock would make everybody wait
 * behind it.
 */
const atOnce = (sql: string) =>
  `DO $$ BEGIN LOCK TABLE id_sequences IN ACCESS EXCLUSIVE MODE NOWAIT; ${sql}; END $$`;

/** The ranges of the columns of `id_sequences`, which {@link setUpSequenceTable} fills in. */
export const postgresColumns = () =>
  new Columns((column) => {
    const [type] = columnDefinition(column, STYLE).split(' ', 1);
    return `ALTER TABLE id_sequences ALTER COLUMN ${column} TYPE ${type}`;
  });

/**
 * Creates `id_sequences` in the first schema of the search path, or adds the columns that an existing table lacks. Marks the schema
 * before such a change.
 */
export async function setUpSequenceTable(
  rowsOf: RowsOf,
  columns: Columns,
  mark: () => Promise<void>,
): Promise<void> {
  const server = {
    columns: () => rowsOf(COLUMNS),
    execute: async (sql: string) => {
      await mark();
      return rowsOf(sql.startsWith('ALTER') ? atOnce(sql) : sql);
    },
    isBusy: (error: unknown) => (error as DriverError).code === LOCK_NOT_AVAILABLE,
    isDone: (error: unknown) => DONE_BY_ANOTHER.includes((error as DriverError).code),
    isForbidden: (error: unknown) => (error as DriverError).code === INSUFFICIENT_PRIVILEGE,
  };
  columns.learn(await setUpTable(server, STYLE));
}

/**
 * Sequence rows in PostgreSQL. An update that waited for another one checks its conditions again, on the changed row.
 *
 * @param isLocked true if changes belong into the caller's transaction
 */
export function postgresRows(run: RunStatement, columns?: Columns, isLocked = false): SequenceRows {
  return sqlRows({
    columns,
    // PostgreSQL takes the type of a value from the column beside it.
    integer: (n) => `$${n}`,
    name: (name, add) => `$${add(name)}`,
    text: (expression) => `CAST(${expression} AS text)`,
    // Without the spaces that fill up a CHAR.
    nameText: 'CAST(name AS text)',
    // Quoted, this is 0 in any type of number, and false in a boolean.
    isExhausted: `exhausted <> '0'`,
    moved: (_low, next) => next(),
    row: (values) => `SELECT ${values}${isLocked ? '' : ` WHERE ${OUTSIDE_TRANSACTION}`}`,
    outsideTransaction: isLocked ? '' : ` AND ${OUTSIDE_TRANSACTION}`,
    inserted: ' ON CONFLICT DO NOTHING RETURNING 1',
    updated: ' RETURNING CAST(next_block_start AS text)',
    deleted: ' RETURNING 1',
    before: (after, { delta }) => after - delta,
    run,
  });
}
