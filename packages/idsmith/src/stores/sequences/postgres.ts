import type { SequenceRows } from '../../sequence/rows.js';
import type { DriverError, SqlRun } from '../sql.js';
import { sqlRows } from './sql.js';
import { setUpTable } from './table.js';

/** Sends a statement and gives its rows. */
type RowsOf = (text: string, values?: unknown[]) => Promise<unknown[]>;

const COLUMNS = `SELECT attname FROM pg_attribute
  WHERE attrelid = to_regclass('id_sequences') AND attnum > 0 AND NOT attisdropped`;

/** unique_violation, duplicate_table, duplicate_object, duplicate_column: another process was quicker. */
const DONE_BY_ANOTHER: readonly unknown[] = ['23505', '42P07', '42710', '42701'];
const INSUFFICIENT_PRIVILEGE = '42501';

/** Makes `id_sequences` in the first schema of the search path, or completes the one that is found. */
export function setUpPostgresTable(rowsOf: RowsOf): Promise<void> {
  const server = {
    columns: () => rowsOf(COLUMNS),
    execute: (sql: string) => rowsOf(sql),
    isDone: (error: unknown) => DONE_BY_ANOTHER.includes((error as DriverError).code),
    isForbidden: (error: unknown) => (error as DriverError).code === INSUFFICIENT_PRIVILEGE,
  };
  return setUpTable(server, { name: 'VARCHAR(255) COLLATE "C"' });
}

/** Rows in PostgreSQL. An update that has to wait for another looks at its conditions again, on the row as it is then. */
export function postgresRows(run: SqlRun, rowsOf: RowsOf): SequenceRows {
  return sqlRows({
    // PostgreSQL takes the types from the columns beside them.
    integer: (n) => `$${n}`,
    name: (n) => `$${n}`,
    nameValue: (name) => name,
    text: (expression) => `CAST(${expression} AS text)`,
    nameText: 'name',
    // Quoted, it is 0 in any type of number, and false.
    isExhausted: `exhausted <> '0'`,
    moved: (_low, next) => next(),
    inserted: ' ON CONFLICT DO NOTHING RETURNING 1',
    updated: ' RETURNING CAST(next_block_start AS text)',
    deleted: ' RETURNING 1',
    before: (after, { delta }) => after - delta,
    run: (what, sql, values, make) => run(what, async () => make(await rowsOf(sql, values))),
  });
}
