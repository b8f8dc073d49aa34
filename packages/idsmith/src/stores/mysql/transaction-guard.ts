import { StoreError } from '../../errors.js';
import { onlyInteger } from '../sql/values.js';
import type { Query } from './client.js';

/**
 * An SQL condition that holds for a statement which is a transaction of its own, as far as the server tells. MySQL skips the
 * comment, and tells of an open transaction only in its answer.
 */
export const OUTSIDE_TRANSACTION = '@@autocommit = 1 /*M!100300 AND @@in_transaction = 0 */';

const IN_TRANSACTION = 1;
const AUTOCOMMIT = 2;

/**
 * Checks the server's answer to a change.
 *
 * @throws StoreError when the change was made, or refused, inside a transaction that is still open
 */
export function requireCommitted(answer: unknown): void {
  const { serverStatus } = (answer ?? {}) as { serverStatus?: unknown };
  // Rows have no status.
  if (typeof serverStatus !== 'number') return;
  if ((serverStatus & IN_TRANSACTION) !== 0 || (serverStatus & AUTOCOMMIT) === 0)
    throw new StoreError(
      'mysql store: the connection is inside an open transaction, or has autocommit = 0, and a rollback would undo the ' +
        'change and repeat ids. End every transaction before its connection goes back to the pool, or give the store a pool ' +
        'of its own, with autocommit = 1',
    );
}

/**
 * Checks that the server commits every statement at once. Without autocommit nothing would ever be committed, and others would
 * get the same ids again. An open transaction would be ended by the statements that create tables.
 *
 * @throws StoreError when autocommit is off, or a transaction is open
 */
export async function requireAutocommit(query: Query): Promise<void> {
  const rows = await query(`SELECT CAST((${OUTSIDE_TRANSACTION}) AS CHAR) AS outside`);
  if (onlyInteger(rows) !== 1)
    throw new StoreError(
      'mysql store: the connection has autocommit = 0 or an open transaction. Set autocommit = 1, and end every transaction ' +
        'before its connection goes back to the pool',
    );
}
