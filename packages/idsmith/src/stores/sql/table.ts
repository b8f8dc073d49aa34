import { StoreError } from '../../errors.js';
import { MAX_ID, MIN_ID } from '../../sequence/blocks.js';
import { retry } from '../../support/retry.js';
import { Columns } from './columns.js';
import type { Dialect } from './dialect.js';
import { plainText } from './values.js';

// The table `id_sequences`. Other programs may have created it and may go on to use it. They know four of its columns.

const SHARED_COLUMNS = new Map([
  ['next_block_start', 'BIGINT NOT NULL'],
  ['block_size', 'INTEGER NOT NULL'],
  ['exhausted', 'SMALLINT NOT NULL DEFAULT 0'],
]);

/** The columns that idsmith adds, each with a default for rows that other programs insert. */
const OWN_COLUMNS = new Map([
  ['first_id', 'BIGINT'],
  ['step', 'BIGINT NOT NULL DEFAULT 1'],
  ['min_id', `BIGINT NOT NULL DEFAULT ${MIN_ID}`],
  ['max_id', `BIGINT NOT NULL DEFAULT ${MAX_ID}`],
  ['cycles', 'SMALLINT NOT NULL DEFAULT 0'],
  ['generation', 'BIGINT NOT NULL DEFAULT 0'],
  ['swap_mark', 'BIGINT NOT NULL DEFAULT 0'],
]);

type TableStyle = Dialect['types'];

/** The statement that creates the table. */
export function createTable({ name, own, options }: TableStyle): string {
  const columns = [
    `name ${name} NOT NULL PRIMARY KEY`,
    ...[...SHARED_COLUMNS].map(([column, type]) => `${column} ${type}`),
    ...[...OWN_COLUMNS].map(([column, type]) => `${column} ${type}${own}`),
  ];
  return `CREATE TABLE IF NOT EXISTS id_sequences (${columns.join(', ')})${options}`;
}

/**
 * The clauses that add the missing columns to a table of another program, `ADD COLUMN …` for each.
 *
 * @param present rows that begin with the name of a column
 */
export function additions(present: readonly unknown[], { own }: TableStyle): string[] {
  const names = present.map((row) => plainText(Object.values(row as object)[0]).toLowerCase());
  const missing = [...OWN_COLUMNS].filter(([column]) => !names.includes(column));
  return missing.map(([column, type]) => `ADD COLUMN ${column} ${type}${own}`);
}

/** The ranges of the columns of `id_sequences`, which `learn` fills in. */
export const columnsOf = ({ widening, types }: Dialect) =>
  new Columns((column) => widening(column, columnDefinition(column, types)));

/** The definition of a column, as idsmith creates it. */
function columnDefinition(column: string, { name, own }: TableStyle): string {
  const type = OWN_COLUMNS.get(column);
  return type === undefined ? (SHARED_COLUMNS.get(column) ?? `${name} NOT NULL`) : `${type}${own}`;
}

/** The functions that read and change the table on a server. */
interface TableServer {
  /** A row for each column, which begins with its name and its type. No rows if there is no such table. */
  columns(): Promise<readonly unknown[]>;
  /** Changes the table. A change of an existing table fails at once if it would have to wait for others. */
  execute(sql: string): Promise<unknown>;
  /** Tells whether a change failed because others use the table. */
  isBusy(error: unknown): boolean;
  /** Tells whether a statement failed because another process has already done its work. */
  isDone(error: unknown): boolean;
  /** Tells whether a statement failed because the user lacks the right. */
  isForbidden(error: unknown): boolean;
}

/** The most times that the table is read again because others have changed it. */
const MAX_LOOKS = 5;

/** The pauses while others use the table, ms: about five seconds in all. */
const MAX_TRIES = 25;
const BACKOFF = { unit: 5, longest: 250 };

/**
 * Creates the table, or adds the missing columns to an existing one. Reads the table again after each step, because other processes
 * may create it at the same time, and not all of them know the added columns.
 *
 * @returns the columns of the finished table
 * @throws StoreError with the necessary statement if the user lacks the right to run it, or if others use the table all the time
 */
export async function setUpTable(server: TableServer, style: TableStyle): Promise<readonly unknown[]> {
  for (let looks = 0; ; looks++) {
    const present = await server.columns();
    const missing = additions(present, style);
    if (missing.length === 0 || looks === MAX_LOOKS) return present;
    const sql = present.length === 0 ? createTable(style) : `ALTER TABLE id_sequences ${missing.join(', ')}`;
    try {
      // As soon as nobody uses the table. Nobody has to wait for the change meanwhile.
      await retry(() => server.execute(sql), {
        isTransient: server.isBusy,
        pauses: BACKOFF,
        attempts: MAX_TRIES,
        giveUp: (error) =>
          new StoreError(
            `sequences need a change of the table, and transactions use the table all the time. End them, or run: ${sql}`,
            { cause: error, reason: 'LOCKED' },
          ),
      });
    } catch (error) {
      if (server.isForbidden(error)) throw mayNotChange('sequences need a change of the table', sql, error);
      if (!server.isDone(error)) throw error;
    }
  }
}

/** The error for a user who lacks the right to run a statement that the store needs. */
export const mayNotChange = (need: string, sql: string, cause: unknown) =>
  new StoreError(
    `${need}, and this user may not make it. Let another user run all that npx idsmith init --print --store URL prints, or at least: ${sql}`,
    {
      cause,
      reason: 'ACCESS_DENIED',
    },
  );

/** A statement that gives a row for each column in MySQL, which begins with its name and its type. */
export const SHOW_COLUMNS = 'SHOW COLUMNS FROM id_sequences';

const ENGINE = `SELECT t.engine, e.transactions FROM information_schema.tables t LEFT JOIN information_schema.engines e ON e.engine = t.engine
  WHERE t.table_schema = DATABASE() AND t.table_name = 'id_sequences'`;

/** The storage engine of `id_sequences` in MySQL; `undefined` for a view or a temporary table. */
interface MysqlEngine {
  readonly engine: string | undefined;
  readonly hasTransactions: boolean;
}

export async function mysqlEngine(query: (sql: string) => Promise<readonly unknown[]>): Promise<MysqlEngine> {
  const [row] = await query(ENGINE);
  const [engine, transactions] = Object.values((row ?? {}) as object);
  return {
    engine: engine === null || engine === undefined ? undefined : plainText(engine),
    hasTransactions: plainText(transactions) === 'YES',
  };
}
