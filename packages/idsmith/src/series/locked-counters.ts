import { StoreError } from '../errors.js';
import type { SqlExecutor } from '../executor/port.js';
import { show } from '../options.js';
import type { SequenceRow } from '../sequence/blocks.js';
import { marked } from '../sequence/rows.js';
import { mysqlColumns, requireTransactions, showColumns } from '../stores/mysql/sequences.js';
import { isMissingTable } from '../stores/sql/missing-table.js';
import { NUMBERS, sequenceRow } from '../stores/sql/sequence-row.js';
import { exactInteger } from '../stores/sql/values.js';
import { storeError } from '../support/store-error.js';
import { isCommitted, making, oneByOne, saw } from './making-counters.js';
import { DIALECTS } from './sql-dialect.js';

/** Rows of `id_sequences` inside a transaction. A row that is read stays locked until the transaction ends. */
export interface LockedCounters {
  /** The row, which is made if it is missing. */
  lock(name: string, start: bigint): Promise<SequenceRow>;
  /** The row, which is made if it is missing, without a lock that keeps others from reading it. */
  remember(name: string, start: bigint): Promise<SequenceRow>;
  /** Writes a row that is locked. */
  write(row: SequenceRow): Promise<void>;
  /** The database's clock, ms. */
  now(): Promise<number>;
}

const MISSING_TABLE =
  'make the table first: connect to this database with connect(url), and call series() of what it gives';

/**
 * The counters in the database of an executor that is inside a transaction.
 *
 * @throws InvalidOptionError when MySQL keeps the table in a storage engine without transactions
 */
export async function lockedCounters(sql: SqlExecutor): Promise<LockedCounters> {
  const dialect = DIALECTS[sql.dialect];
  const query = async (what: string, text: string, values: readonly string[] = []) => {
    try {
      return await sql.query(text, values);
    } catch (error) {
      throw seriesError(what, error);
    }
  };
  const ask = (text: string) => query('looking at the table', text);
  const columns = sql.dialect === 'mysql' ? mysqlColumns() : undefined;
  if (columns !== undefined) {
    await requireTransactions(ask);
    columns.learn(await showColumns(ask));
  }
  // Begin to write now: SQLite refuses the first write of a transaction that has only read, if another connection has written since.
  if (sql.dialect === 'sqlite')
    await query('locking the file', 'UPDATE id_sequences SET name = name WHERE 0');

  const columnTexts = [
    ...NUMBERS.map((column) => `${dialect.asText(column)} AS ${column.replaceAll('_', '')}`),
    `${dialect.asText(`CASE WHEN exhausted <> ${dialect.zero} THEN 1 ELSE 0 END`)} AS exhausted`,
  ];
  const select = `SELECT name, ${columnTexts.join(', ')} FROM id_sequences WHERE name = ${dialect.text(1)}`;

  const insert = async (name: string, start: bigint) => {
    const row = ['next_block_start', 'first_id', 'block_size', 'generation', 'exhausted'];
    const generation = fresh();
    making(generation, sql);
    const values = [String(start), String(start), '1', String(generation), '0'];
    await oneByOne(sql, name, () =>
      query(
        `making the counter ${show(name)}`,
        `INSERT INTO id_sequences (name, ${row.join(', ')})
          VALUES (${dialect.text(1)}, ${row.map((_, i) => dialect.integer(i + 2)).join(', ')}) ${dialect.unlessThere}`,
        [name, ...values],
      ),
    );
  };
  const read = async (name: string, lock: string) => {
    const [row] = await query(`reading the counter ${show(name)}`, select + lock, [name]);
    return row === undefined ? undefined : { ...sequenceRow(row), name };
  };
  /** The row, with one lock if it was there before, and with another one if it may have to be made. */
  const readOrMake = async (name: string, start: bigint, lock: string): Promise<SequenceRow> => {
    const known = isCommitted(name) ? await read(name, lock) : undefined;
    if (known !== undefined) return known;
    // Not after a look: a lock on a missing row is one on the gap beside it in MySQL, where the INSERT of others would wait.
    await insert(name, start);
    const row = await read(name, dialect.forUpdate);
    if (row === undefined)
      throw new StoreError(
        `the counter ${show(name)} was made by another transaction meanwhile: roll back and try again`,
      );
    saw(name, row.generation, sql);
    return row;
  };

  return {
    lock: (name, start) => readOrMake(name, start, dialect.forUpdate),

    remember: (name, start) => readOrMake(name, start, dialect.forShare),

    async write(row) {
      const { name, next, exhausted, mark } = marked(row);
      columns?.requireRow(row);
      await query(
        `writing the counter ${show(name)}`,
        `UPDATE id_sequences SET next_block_start = ${dialect.integer(1)}, exhausted = ${dialect.integer(2)},
          swap_mark = ${dialect.integer(3)} WHERE name = ${dialect.text(4)}`,
        [String(next), exhausted ? '1' : '0', mark, name],
      );
    },

    now: () => databaseNow(sql),
  };
}

/** The clock of a database, ms. */
export async function databaseNow(sql: SqlExecutor): Promise<number> {
  try {
    const [row] = await sql.query(DIALECTS[sql.dialect].now);
    return exactInteger('the clock', Object.values(row as object)[0]);
  } catch (error) {
    throw seriesError("reading the database's clock", error);
  }
}

/** The error for a statement that failed, with the way out if its table is missing. */
export function seriesError(what: string, error: unknown, create = ''): Error {
  const failure = storeError(`series: ${what}`, error);
  if (!isMissingTable(error)) return failure;
  const otherwise = create === '' ? '' : `, or run: ${create}`;
  return new StoreError(`${failure.message}; ${MISSING_TABLE}${otherwise}`, { cause: error });
}

/** A random generation. Never 0, which stands for rows of other programs. */
const fresh = () => crypto.getRandomValues(new Uint32Array(1))[0] || 1;
