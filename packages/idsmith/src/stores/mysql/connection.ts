import { StoreError } from '../../errors.js';

/**
 * Holds for a statement that is a transaction of its own, as far as the server tells: MySQL, which skips the comment, tells of
 * an open transaction only in its answer.
 */
export const ALONE = '@@autocommit = 1 /*M!100300 AND @@in_transaction = 0 */';

const IN_TRANSACTION = 1;
const AUTOCOMMIT = 2;

/**
 * Looks at the answer to a change.
 *
 * @throws StoreError when the change was made, or refused, within a transaction that is still open
 */
export function requireCommitted(answer: unknown): void {
  const { serverStatus } = (answer ?? {}) as { serverStatus?: unknown };
  // Rows have no status.
  if (typeof serverStatus !== 'number') return;
  if ((serverStatus & IN_TRANSACTION) !== 0 || (serverStatus & AUTOCOMMIT) === 0)
    throw new StoreError(
      'mysql store: the connection is inside a transaction that somebody has begun, or has autocommit = 0, and a rollback ' +
        'would undo what is given out here. End every transaction before its connection goes back to the pool, or give the ' +
        'store a pool of its own, with autocommit = 1',
    );
}
