import type { SequenceRows } from '../../sequence/rows.js';
import { type Statement, sqlRows } from '../sql/sequences.js';
import { additions, createTable } from '../sql/table.js';

/** Runs a statement in a transaction of its own, described for messages, and makes something of its rows. */
type Run = <T>(what: string, build: () => Statement, make: (rows: unknown[]) => T) => Promise<T>;

const STYLE = { name: 'VARCHAR(255)' };

/**
 * The statements that make `id_sequences`, or complete the one that is there.
 *
 * @param rowsOf gives the rows of a query; called within a transaction
 */
export function sqliteTable(rowsOf: (sql: string) => unknown[]): string[] {
  const present = rowsOf(`SELECT name FROM pragma_table_info('id_sequences')`);
  if (present.length === 0) return [createTable(STYLE)];
  return additions(present, STYLE).map((addition) => `ALTER TABLE id_sequences ${addition}`);
}

/** Rows in SQLite. Numbers are bound as text, which all drivers do alike, and cast, or they would be compared as text. */
export function sqliteRows(run: Run): SequenceRows {
  return sqlRows({
    integer: () => 'CAST(? AS INTEGER)',
    name: () => '?',
    nameValue: (name) => name,
    text: (expression) => `CAST(${expression} AS TEXT)`,
    nameText: 'name',
    isExhausted: 'CAST(exhausted AS INTEGER) <> 0',
    moved: (_low, next) => next(),
    row: (values) => `VALUES (${values})`,
    // The caller's own BEGIN fails within a transaction.
    outsideTransaction: '',
    inserted: ' ON CONFLICT DO NOTHING RETURNING 1',
    updated: ' RETURNING CAST(next_block_start AS TEXT)',
    deleted: ' RETURNING 1',
    before: (after, { delta }) => after - delta,
    run,
  });
}
