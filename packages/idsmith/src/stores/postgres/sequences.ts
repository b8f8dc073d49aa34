import type { SequenceRows } from '../../sequence/rows.js';
import { Columns } from '../sql/columns.js';
import type { DriverError, SqlRun } from '../sql/runner.js';
import { sqlRows } from '../sql/sequences.js';
import { definitionOf, setUpTable } from '../sql/table.js';
import { ALONE, type RowsOf } from './connection.js';

const STYLE = { name: 'VARCHAR(255) COLLATE "C"' };

const COLUMNS = `SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
  WHERE attrelid = to_regclass('id_sequences') AND attnum > 0 AND NOT attisdropped`;

/** unique_violation, duplicate_table, duplicate_object, duplicate_column: another process was quicker. */
const DONE_BY_ANOTHER: readonly unknown[] = ['23505', '42P07', '42710', '42701'];
const INSUFFICIENT_PRIVILEGE = '42501';

/** What the columns of `id_sequences` hold, for `setUpPostgresTable` to learn. */
export const postgresColumns = () =>
  new Columns((column) => {
    const [type] = definitionOf(column, STYLE).split(' ', 1);
    return `ALTER TABLE id_sequences ALTER COLUMN ${column} TYPE ${type}`;
  });

/** Makes `id_sequences` in the first schema of the search path, or completes the one that is found. */
export async function setUpPostgresTable(rowsOf: RowsOf, columns: Columns): Promise<void> {
  const server = {
    columns: () => rowsOf(COLUMNS),
    execute: (sql: string) => rowsOf(sql),
    isDone: (error: unknown) => DONE_BY_ANOTHER.includes((error as DriverError).code),
    isForbidden: (error: unknown) => (error as DriverError).code === INSUFFICIENT_PRIVILEGE,
  };
  columns.learn(await setUpTable(server, STYLE));
}

/** How statements are sent, and what is known of the table. */
interface PostgresTable {
  rowsOf: RowsOf;
  /** Runs changes outside of transactions; left out within somebody's transaction, where that is where they belong. */
  change?: (text: string, values: readonly unknown[]) => Promise<unknown[]>;
  columns?: Columns;
}

/** Rows in PostgreSQL. An update that has to wait for another looks at its conditions again, on the row as it is then. */
export function postgresRows(run: SqlRun, { rowsOf, change, columns }: PostgresTable): SequenceRows {
  return sqlRows({
    columns,
    // PostgreSQL takes the types from the columns beside them.
    integer: (n) => `$${n}`,
    name: (n) => `$${n}`,
    nameValue: (name) => name,
    text: (expression) => `CAST(${expression} AS text)`,
    nameText: 'name',
    // Quoted, it is 0 in any type of number, and false.
    isExhausted: `exhausted <> '0'`,
    moved: (_low, next) => next(),
    row: (values) => `SELECT ${values}${change ? ` WHERE ${ALONE}` : ''}`,
    alone: change ? ` AND ${ALONE}` : '',
    inserted: ' ON CONFLICT DO NOTHING RETURNING 1',
    updated: ' RETURNING CAST(next_block_start AS text)',
    deleted: ' RETURNING 1',
    before: (after, { delta }) => after - delta,
    run: (what, build, make) =>
      run(what, async () => {
        const { sql, values } = build();
        const send = change && !sql.startsWith('SELECT') ? change : rowsOf;
        return make(await send(sql, values));
      }),
  });
}
