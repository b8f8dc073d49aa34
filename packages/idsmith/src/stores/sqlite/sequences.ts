import type { SequenceRows } from '../../sequence/rows.js';
import { sqlRows } from '../sql/sequences.js';
import type { RunStatement } from '../sql/statement.js';
import { additions, createTable } from '../sql/table.js';

const STYLE = { name: 'VARCHAR(255)' };

/**
 * The statements that create `id_sequences`, or add the missing columns to an existing table.
 *
 * @param rowsOf gives the rows of a query; called inside a transaction
 */
export function sqliteTable(rowsOf: (sql: string) => unknown[]): string[] {
  const present = rowsOf(`SELECT name FROM pragma_table_info('id_sequences')`);
  if (present.length === 0) return [createTable(STYLE)];
  return additions(present, STYLE).map((addition) => `ALTER TABLE id_sequences ${addition}`);
}

/** Sequence rows in SQLite. Numbers are bound as text, which all drivers do alike, and cast back to numbers. */
export function sqliteRows(run: RunStatement): SequenceRows {
  return sqlRows({
    integer: () => 'CAST(? AS INTEGER)',
    name: (name, add) => {
      add(name);
      return '?';
    },
    text: (expression) => `CAST(${expression} AS TEXT)`,
    nameText: 'name',
    isExhausted: 'CAST(exhausted AS INTEGER) <> 0',
    moved: (_low, next) => next(),
    row: (values) => `VALUES (${values})`,
    // The store's own BEGIN fails inside a transaction.
    outsideTransaction: '',
    inserted: ' ON CONFLICT DO NOTHING RETURNING 1',
    updated: ' RETURNING CAST(next_block_start AS TEXT)',
    deleted: ' RETURNING 1',
    before: (after, { delta }) => after - delta,
    run,
  });
}
