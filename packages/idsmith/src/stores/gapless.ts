import { NoSuchSequenceError, StoreError } from '../errors.js';
import type { SqlExecutor } from '../executor/port.js';
import { sqlExecutor } from '../executor/recognise.js';
import { requireTransaction } from '../executor/transaction.js';
import { show } from '../options.js';
import { takeBlocks } from '../sequence/blocks.js';
import { requireStoredName } from '../sequence/name.js';
import { marked, type SequenceRows } from '../sequence/rows.js';
import { storeError } from '../support/store-error.js';
import { mysqlColumns, mysqlRows, requireTransactions, showColumns } from './mysql/sequences.js';
import { postgresRows } from './postgres/sequences.js';
import { inTurn } from './sql/in-turn.js';
import type { SqlRun } from './sql/runner.js';
import type { RunStatement } from './sql/statement.js';
import { sqliteRows } from './sqlite/sequences.js';

/**
 * A connection with a transaction open, or the transaction object of an ORM: everything that `sqlExecutor` of `idsmith/sql`
 * recognises, except pools.
 */
export type GaplessTransaction = object;

/**
 * Takes the next number of a sequence inside the caller's own transaction. A rollback gives the number back, so that there is no gap.
 * Other callers wait until the transaction has ended; calls on one connection take turns. Define the sequence like any other, and do not also draw blocks from it: blocks
 * leave gaps.
 *
 * @param transaction a connection or an ORM's transaction, see {@link sqlExecutor}
 * @throws InvalidOptionError when no transaction is open, `transaction` is a pool or unknown, or MySQL keeps the table in a storage
 * engine without transactions
 * @throws NoSuchSequenceError when the sequence is not defined
 * @throws SequenceExhaustedError when all ids are used
 * @throws StoreError when the database fails; roll back then
 *
 * @example
 * await client.query('BEGIN');
 * const number = await gapless('invoices', client);
 * await client.query('INSERT INTO invoices (number, …) VALUES ($1, …)', [number, …]);
 * await client.query('COMMIT');
 */
export async function gapless(sequenceName: string, transaction: GaplessTransaction): Promise<bigint> {
  requireStoredName(sequenceName);
  const executor = sqlExecutor(transaction);
  return inTurn(executor, () => takeNumber(sequenceName, executor));
}

async function takeNumber(sequenceName: string, executor: SqlExecutor): Promise<bigint> {
  await run('looking for the transaction', () => requireTransaction(executor));
  const rows = await lockedRows[executor.dialect](executor);
  const row = await rows.read(sequenceName);
  if (row === undefined) throw new NoSuchSequenceError(`there is no sequence ${show(sequenceName)}`);
  // One number, with any block size.
  const taken = takeBlocks({ ...row, blockSize: 1 }, 1);
  if (!(await rows.swap(row, marked({ ...taken.row, blockSize: row.blockSize }))))
    throw new StoreError(
      `sequence ${show(sequenceName)} was changed although its row is locked: roll back and try again`,
    );
  return taken.block.first;
}

const run: SqlRun = async (operation, statement) => {
  try {
    return await statement();
  } catch (error) {
    throw storeError(`gapless: ${operation}`, error);
  }
};

/** Runs statements of a sequence's row in the transaction. */
const inside =
  ({ query }: SqlExecutor, lock = ''): RunStatement =>
  (what, build, make) =>
    run(what, async () => {
      const { sql, values } = build();
      return make(await query(sql.startsWith('SELECT') ? sql + lock : sql, values));
    });

const FOR_UPDATE = ' FOR UPDATE';

/** Sequence rows inside the transaction. A row that is read stays locked until the transaction ends. */
const lockedRows = {
  async postgres(executor: SqlExecutor): Promise<SequenceRows> {
    return postgresRows(inside(executor, FOR_UPDATE), undefined, true);
  },

  async mysql(executor: SqlExecutor): Promise<SequenceRows> {
    const columns = mysqlColumns();
    await run('looking at the table', async () => {
      await requireTransactions(executor.query);
      columns.learn(await showColumns(executor.query));
    });
    return mysqlRows(inside(executor, FOR_UPDATE), columns, true);
  },

  async sqlite(executor: SqlExecutor): Promise<SequenceRows> {
    // Begin to write now: SQLite refuses the first write of a transaction that has only read, if another connection has written since.
    await run('locking the file', () => executor.query('UPDATE id_sequences SET name = name WHERE 0'));
    return sqliteRows(inside(executor));
  },
};
