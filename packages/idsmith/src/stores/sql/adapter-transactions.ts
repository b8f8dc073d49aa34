import { StoreError } from '../../errors.js';
import { checkedExecutor } from '../../executor/checked-executor.js';
import type { SqlDriver } from '../../executor/driver.js';
import type { SqlExecutor } from '../../executor/port.js';
import { refuse } from '../../options.js';
import { withTimeout } from '../../support/timeout.js';
import { inTurn } from './in-turn.js';

/**
 * Runs work in the transactions that a client makes. Calls take turns, because the client may have one connection for all of
 * them, and the rollback of one call would undo the other one.
 */
export const adapterTransactions =
  (driver: SqlDriver, timeout: number) =>
  <T>(work: (sql: SqlExecutor) => Promise<T>): Promise<T> => {
    let isLate = false;
    const onTimeout = () => {
      isLate = true;
    };
    const requireTime = () => {
      if (isLate) throw new StoreError(`no answer within ${timeout} ms: nothing is changed`);
    };
    const result = inTurn(driver, async () => {
      requireTime();
      await requireNoTransaction(driver);
      return inTransaction(driver, async (sql) => {
        requireTime();
        const answer = await work(sql);
        requireTime();
        return answer;
      });
    });
    return withTimeout(result, timeout, { onTimeout });
  };

/** The result of work in a transaction of the client, after the commit. */
async function inTransaction<T>(driver: SqlDriver, work: (sql: SqlExecutor) => Promise<T>): Promise<T> {
  let outcome: { value: T } | { error: unknown } | undefined;
  const committed = driver.transaction?.(async (inside) => {
    try {
      outcome = { value: await work(checkedExecutor(inside)) };
    } catch (error) {
      outcome = { error };
      throw error;
    }
  });
  try {
    await committed;
  } catch (error) {
    outcome = { error: outcome && 'error' in outcome ? outcome.error : error };
  }
  if (outcome === undefined)
    refuse('transaction()', 'a method that runs its work before it answers', undefined);
  if ('error' in outcome) throw outcome.error;
  return outcome.value;
}

/** @throws StoreError when the client is inside a transaction, of which its own transactions would be a part */
export async function requireNoTransaction(driver: SqlDriver): Promise<void> {
  if (!(await checkedExecutor(driver).inTransaction())) return;
  throw new StoreError(
    `${driver.dialect} store: the adapter is inside an open transaction, whose rollback would undo the change and repeat ids. ` +
      'Give the store an adapter of a pool',
  );
}
