import { NoSuchSequenceError } from '../../errors.js';
import { show } from '../../options.js';
import { requireStoredName } from '../../sequence/name.js';
import { withCallersRows } from './locked-rows.js';

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
  return withCallersRows(transaction, 'gapless', async (rows) => {
    const row = await rows.lock(sequenceName);
    if (row === undefined) throw new NoSuchSequenceError(`there is no sequence ${show(sequenceName)}`);
    return (await rows.take(row)).number;
  });
}
