import { StoreError } from '../../errors.js';
import { MAX_ID, MIN_ID } from '../../sequence/blocks.js';
import { plainText } from './values.js';

// The table `id_sequences`, which other programs may have made and may go on using: they know four of its columns.

const SHARED_COLUMNS = new Map([
  ['next_block_start', 'BIGINT NOT NULL'],
  ['block_size', 'INTEGER NOT NULL'],
  ['exhausted', 'SMALLINT NOT NULL DEFAULT 0'],
]);

/** Our own, each with a default for the rows that other programs insert. */
const OWN_COLUMNS = new Map([
  ['first_id', 'BIGINT'],
  ['step', 'BIGINT NOT NULL DEFAULT 1'],
  ['min_id', `BIGINT NOT NULL DEFAULT ${MIN_ID}`],
  ['max_id', `BIGINT NOT NULL DEFAULT ${MAX_ID}`],
  ['cycles', 'SMALLINT NOT NULL DEFAULT 0'],
  ['generation', 'BIGINT NOT NULL DEFAULT 0'],
  ['swap_mark', 'BIGINT NOT NULL DEFAULT 0'],
]);

/** How a database writes the table. */
export interface TableStyle {
  /** The type of the column `name`. */
  readonly name: string;
  /** Written after each of our own columns. */
  readonly own?: string;
  /** Written after the table. */
  readonly options?: string;
}

/** The statement that makes the table. */
export function createTable({ name, own = '', options = '' }: TableStyle): string {
  const columns = [
    `name ${name} NOT NULL PRIMARY KEY`,
    ...[...SHARED_COLUMNS].map(([column, type]) => `${column} ${type}`),
    ...[...OWN_COLUMNS].map(([column, type]) => `${column} ${type}${own}`),
  ];
  return `CREATE TABLE IF NOT EXISTS id_sequences (${columns.join(', ')})${options}`;
}

/**
 * What adds the columns that the table of another program lacks, `ADD COLUMN …` for each.
 *
 * @param present rows that begin with the name of a column
 */
export function additions(present: readonly unknown[], { own = '' }: TableStyle): string[] {
  const names = present.map((row) => plainText(Object.values(row as object)[0]).toLowerCase());
  const missing = [...OWN_COLUMNS].filter(([column]) => !names.includes(column));
  return missing.map(([column, type]) => `ADD COLUMN ${column} ${type}${own}`);
}

/** The definition that a column of ours has. */
export function columnDefinition(column: string, { name, own = '' }: TableStyle): string {
  const type = OWN_COLUMNS.get(column);
  return type === undefined ? (SHARED_COLUMNS.get(column) ?? `${name} NOT NULL`) : `${type}${own}`;
}

/** How a server is asked for the table, and told what to do. */
interface TableServer {
  /** A row that begins with its name and its type for each column; none if there is no such table. */
  columns(): Promise<unknown[]>;
  execute(sql: string): Promise<unknown>;
  /** Whether that failed because somebody else has done it meanwhile. */
  isDone(error: unknown): boolean;
  /** Whether that failed because this user may not do it. */
  isForbidden(error: unknown): boolean;
}

/** How often the table may have been changed by others between two looks. */
const MAX_LOOKS = 5;

/**
 * Makes the table, or adds our columns to the one that is there. It looks again after each step, because others may be at
 * it at the same time, and not all of them know our columns.
 *
 * @returns the columns that the table has in the end
 * @throws StoreError with the statement that is needed if this user may not run it
 */
export async function setUpTable(server: TableServer, style: TableStyle): Promise<unknown[]> {
  for (let looks = 0; ; looks++) {
    const present = await server.columns();
    const missing = additions(present, style);
    if (missing.length === 0 || looks === MAX_LOOKS) return present;
    const sql = present.length === 0 ? createTable(style) : `ALTER TABLE id_sequences ${missing.join(', ')}`;
    try {
      await server.execute(sql);
    } catch (error) {
      if (server.isForbidden(error))
        throw new StoreError(`sequences need this statement, which their user has no right to: ${sql}`, {
          cause: error,
        });
      if (!server.isDone(error)) throw error;
    }
  }
}
