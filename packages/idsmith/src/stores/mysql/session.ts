import type { SqlChange, SqlDriver } from '../../executor/driver.js';
import type { SqlExecutor, SqlValue } from '../../executor/port.js';
import { rowsIn } from '../../executor/shapes.js';
import type { DriverError } from '../../support/store-error.js';
import { adapterTransactions } from '../sql/adapter-transactions.js';
import { isAdapter } from '../sql/driver-of.js';
import { plainText } from '../sql/values.js';
import { type Query, sendWithTimeout } from './client.js';
import { OUTSIDE_TRANSACTION } from './transaction-guard.js';

/** Ways to send statements with a time limit, which includes the wait for a connection. */
export interface MysqlSession {
  readonly query: Query;
  /**
   * Sends a change. Gives its `LAST_INSERT_ID` if the change has set one, otherwise the number of rows that it has changed. A row that
   * is there already is 0.
   *
   * @throws StoreError inside an open transaction
   */
  change(sql: string, values: readonly SqlValue[]): Promise<number>;
}

const ER_DUP_ENTRY = 1062;

/** The session of a client, with a time limit in ms. */
export function mysqlSession(driver: SqlDriver, timeout: number): MysqlSession {
  const send = sendWithTimeout(driver, timeout);
  const transact = adapterTransactions(driver, timeout);
  const sendChange = isAdapter(driver)
    ? (sql: string, values: readonly SqlValue[]) => transact((inside) => outcomeOf(inside, sql, values))
    : send;
  return {
    query: async (sql, values) => rowsIn(await send(sql, values)),
    async change(sql, values) {
      try {
        const { insertId, affectedRows } = (await sendChange(sql, values)) as SqlChange;
        return Number(insertId) || Number(affectedRows);
      } catch (error) {
        // `INSERT IGNORE` would turn every other error into a warning, too.
        if ((error as DriverError).errno === ER_DUP_ENTRY) return 0;
        throw error;
      }
    },
  };
}

/** The outcome of a change in a transaction of its own, whose sender tells rows alone. */
async function outcomeOf(
  { query }: SqlExecutor,
  sql: string,
  values: readonly SqlValue[],
): Promise<SqlChange> {
  await query('SELECT LAST_INSERT_ID(0) AS forgotten');
  await query(sql.replaceAll(OUTSIDE_TRANSACTION, 'TRUE'), values);
  const [row] = await query(
    'SELECT CAST(ROW_COUNT() AS CHAR) AS found, CAST(LAST_INSERT_ID() AS CHAR) AS answer',
  );
  const [affectedRows, insertId] = Object.values(row ?? {}).map(plainText);
  return { affectedRows, insertId };
}
