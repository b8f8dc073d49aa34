import { rowsIn, type SqlChange, type SqlDriver } from '../../drivers/driver.js';
import { mysqlLike } from '../../drivers/mysql2.js';
import type { SqlAdapter, SqlExecutor, SqlValue } from '../../drivers/port.js';
import { StoreError } from '../../errors.js';
import type { DriverError } from '../../support/store-error.js';
import { mysql } from '../sql/dialect.js';
import { driverOf, ServerSession } from '../sql/session.js';
import { plainText } from '../sql/values.js';

/** The part of a client that the store uses. A pool or connection of `mysql2/promise` has it. */
export interface MysqlClient {
  query(sql: string, values: unknown[]): Promise<[result: unknown, fields: unknown]>;
  /** Only a pool has this. The store takes a connection that does not answer out of the pool. */
  getConnection?(): Promise<PooledConnection>;
}

/** A pool or connection of `mysql2`, which works with callbacks and has another face with promises. */
export interface MysqlCallbackClient {
  promise(): MysqlClient;
}

interface PooledConnection extends MysqlClient {
  release(): void;
  destroy(): void;
}

/**
 * The driver of a client.
 *
 * @throws InvalidOptionError when the client has no method that the store knows
 */
export const mysqlDriver = (client: MysqlClient | MysqlCallbackClient | SqlAdapter): SqlDriver =>
  driverOf(client, 'mysql', [mysqlLike], 'a pool or connection of mysql2, or an adapter');

/** ER_OPTION_PREVENTS_STATEMENT, ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, ER_READ_ONLY_MODE */
export const READ_ONLY: readonly unknown[] = [1290, 1792, 1836];

const ER_DUP_ENTRY = 1062;

/** ER_UNKNOWN_COM_ERROR, with which a node of Galera that has no majority refuses every statement. */
const NO_MAJORITY = 1047;

/**
 * ER_UNKNOWN_COM_ERROR, ER_ERROR_DURING_COMMIT, ER_LOCK_WAIT_TIMEOUT: the failures of a node of Galera that has no majority. The last one is also that of
 * a wait for what the other nodes have acknowledged.
 */
const MAY_BE_CUT_OFF: readonly unknown[] = [NO_MAJORITY, 1180, 1205];

/** The outcome of a change with this failure is unknown: ER_ERROR_DURING_COMMIT. */
const UNKNOWN_OUTCOME = 1180;

/** The code of a failure of such a node, which `storeReasons` knows. */
const NOT_READY = 'WSREP_NOT_READY';

/** ER_CHECKREAD, ER_LOCK_DEADLOCK: the statement was rolled back. A lock wait that timed out has been long enough. */
const ROLLED_BACK: readonly unknown[] = [1020, 1213];

/** A column that tells whether the server is a node of Galera. Not every MariaDB knows the variable, and MySQL skips the comment. */
const GALERA = `/*M!100300 , (SELECT GLOBAL_VALUE FROM information_schema.SYSTEM_VARIABLES
  WHERE VARIABLE_NAME = 'WSREP_ON') AS galera */`;

/** A replica refuses changes with this setting, but not those of a user with the right SUPER or READ_ONLY ADMIN. */
const READ_ONLY_SETTING = 'CAST(@@global.read_only AS CHAR)';

/** Some versions tell a number, others a word. */
const isOn = (value: string | undefined) => value !== '0' && value !== 'OFF';

/** A server of MySQL or MariaDB as a store uses it: refuses changes inside an open transaction, and on a replica. */
export class MysqlSession extends ServerSession {
  /** True for a server that was read-only when it was last asked. */
  #isReadOnly = false;
  /** True for a node of Galera: another node may have acknowledged writes that this one has not applied yet. */
  #isGalera = false;

  /**
   * Checks that the server commits every statement at once. Without autocommit nothing would ever be committed, and others would get the
   * same ids again. An open transaction would be ended by the statements that create tables.
   */
  async prepare(): Promise<void> {
    const rows = await this.ask(
      `SELECT CAST((${mysql.outsideTransaction}) AS CHAR) AS outside, ${READ_ONLY_SETTING} AS locked ${GALERA}`,
    );
    const [outside, locked, galera] = Object.values((rows[0] ?? {}) as object).map(plainText);
    if (outside !== '1')
      throw new StoreError(
        'mysql store: the connection has autocommit = 0 or an open transaction. Set autocommit = 1, and end every transaction ' +
          'before its connection goes back to the pool',
        { reason: 'IN_TRANSACTION' },
      );
    this.#isReadOnly = isOn(locked);
    this.#isGalera = galera === 'ON';
  }

  /**
   * @throws an error like that of the server, which lets this user write to a replica all the same. A write there is one that the primary never
   * gets, and both would give out the same ids.
   */
  async #refuseReplica(query: SqlDriver['query'], sql: string): Promise<void> {
    if (!this.#isReadOnly || /^(SELECT|SHOW) /.test(sql)) return;
    const [row] = rowsIn(await query(`SELECT ${READ_ONLY_SETTING} AS locked`, []));
    this.#isReadOnly = isOn(plainText(Object.values((row ?? {}) as object)[0]));
    if (!this.#isReadOnly) return;
    throw Object.assign(new Error('the server is running with read_only'), { errno: READ_ONLY[0] });
  }

  async ask(sql: string, values: readonly SqlValue[] = []): Promise<readonly unknown[]> {
    return rowsIn(await this.#answer(sql, values));
  }

  protected async send(sql: string, values: readonly SqlValue[]): Promise<readonly unknown[]> {
    if (sql.startsWith('SELECT')) return this.ask(sql, values);
    const answer = await this.#change(sql, values);
    return answer === 0 ? [] : [[answer]];
  }

  protected begin(): readonly string[] {
    // The level holds for the next transaction alone.
    return ['SET TRANSACTION ISOLATION LEVEL READ COMMITTED', 'START TRANSACTION'];
  }

  protected isTransient({ errno }: DriverError): boolean {
    return ROLLED_BACK.includes(errno) || errno === NO_MAJORITY;
  }

  /**
   * Tells whether a connection with this error is of no more use. When the server has become a replica, a new connection may find
   * the primary, and when a node has no majority, a node that has one. When the connection is inside a transaction, its end undoes a change that must not count.
   */
  protected isUseless(error: unknown): boolean {
    const { errno, code } = (error ?? {}) as DriverError;
    return (
      READ_ONLY.includes(errno) || errno === NO_MAJORITY || code === NOT_READY || error instanceof StoreError
    );
  }

  /** The rows of a query or the outcome of a change. */
  #answer(sql: string, values: readonly SqlValue[]): Promise<unknown[] | SqlChange> {
    return this.onConnection(async ({ answer, query }, left) => {
      await this.#refuseReplica(query, sql);
      const statement = limited(sql, left, this.#isGalera);
      const given = await (answer ?? query)(statement, values).catch(async (error) => {
        const mayBeCutOff = this.#isGalera
          ? MAY_BE_CUT_OFF.includes(error?.errno)
          : error?.errno === NO_MAJORITY;
        throw mayBeCutOff ? await galeraError(query, error) : error;
      });
      requireCommitted(given);
      return given as unknown[] | SqlChange;
    });
  }

  /**
   * Sends a change. Gives its `LAST_INSERT_ID` if the change has set one, otherwise the number of rows that it has changed. A row that is
   * there already is 0.
   */
  async #change(sql: string, values: readonly SqlValue[]): Promise<number> {
    try {
      const outcome = this.isAdapter
        ? await this.transact(async (inside) => {
            await this.#refuseReplica(inside.query, sql);
            return outcomeOf(inside, sql, values);
          })
        : ((await this.#answer(sql, values)) as SqlChange);
      return Number(outcome.insertId) || Number(outcome.affectedRows);
    } catch (error) {
      // `INSERT IGNORE` would turn every other error into a warning, too.
      if ((error as DriverError).errno === ER_DUP_ENTRY) return 0;
      throw error;
    }
  }
}

/** The reason of a failure, if this is a node of Galera that does not serve; otherwise the failure. */
async function galeraError(query: SqlDriver['query'], error: DriverError): Promise<unknown> {
  const rows = await query("SHOW STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_cluster_status')", [])
    .then(rowsIn)
    .catch(() => []);
  const status = new Map(rows.map((row) => Object.values(row as object).map(plainText) as [string, string]));
  if (status.get('wsrep_ready') !== 'OFF') return error;
  const message =
    `this node of Galera is cut off from the majority, or has not joined it yet (wsrep_cluster_status = ${status.get('wsrep_cluster_status')}, ` +
    `wsrep_ready = OFF), and takes no statements: ${error.message}`;
  const errno = error.errno === UNKNOWN_OUTCOME ? UNKNOWN_OUTCOME : NO_MAJORITY;
  return Object.assign(new Error(message, { cause: error }), { errno, code: NOT_READY });
}

/** The outcome of a change in a transaction of its own, whose sender tells rows alone. */
async function outcomeOf(
  { query }: SqlExecutor,
  sql: string,
  values: readonly SqlValue[],
): Promise<SqlChange> {
  await query('SELECT LAST_INSERT_ID(0) AS forgotten');
  await query(sql.replaceAll(mysql.outsideTransaction, 'TRUE'), values);
  const [row] = await query(
    'SELECT CAST(ROW_COUNT() AS CHAR) AS found, CAST(LAST_INSERT_ID() AS CHAR) AS answer',
  );
  const [affectedRows, insertId] = Object.values(row ?? {}).map(plainText);
  return { affectedRows, insertId };
}

/**
 * A statement with limits of the server's own, somewhat shorter than the caller's. So it ends with an answer, and does not wait
 * for a lock after its caller has gone. MariaDB limits changes, and MySQL limits SELECTs: each skips the other's comment. A node of Galera
 * first applies all that other nodes have acknowledged.
 */
function limited(sql: string, left: number, isGalera: boolean): string {
  const ms = Math.max(1, Math.floor(left * 0.9));
  const current = isGalera ? 'wsrep_sync_wait = 7' : '';
  if (sql.startsWith('SELECT ') && isGalera)
    return `SET STATEMENT ${current}, max_statement_time = ${(ms / 1000).toFixed(3)} FOR ${sql}`;
  if (sql.startsWith('SELECT '))
    return `SELECT /*+ MAX_EXECUTION_TIME(${ms}) */ ${sql.slice('SELECT '.length)}`;
  if (!/^(UPDATE|DELETE|INSERT) /.test(sql)) return sql;
  const time = (ms / 1000).toFixed(3);
  return `/*M!100300 SET STATEMENT innodb_lock_wait_timeout = ${lockWait(left)}, max_statement_time = ${time}${current && `, ${current}`} FOR */ ${sql}`;
}

/** The longest wait for a row lock within this time, in the whole seconds that the server takes. */
export function lockWait(ms: number): number {
  return Math.max(1, Math.floor((ms * 0.8) / 1000));
}

const IN_TRANSACTION = 1;
const AUTOCOMMIT = 2;

/**
 * Checks the server's answer to a change.
 *
 * @throws StoreError when the change was made, or refused, inside a transaction that is still open
 */
function requireCommitted(answer: unknown): void {
  const { serverStatus } = (answer ?? {}) as { serverStatus?: unknown };
  // Rows have no status.
  if (typeof serverStatus !== 'number') return;
  if ((serverStatus & IN_TRANSACTION) !== 0 || (serverStatus & AUTOCOMMIT) === 0)
    throw new StoreError(
      'mysql store: the connection is inside an open transaction, or has autocommit = 0, and a rollback would undo the ' +
        'change and repeat ids. End every transaction before its connection goes back to the pool, or give the store a pool ' +
        'of its own, with autocommit = 1',
      { reason: 'IN_TRANSACTION' },
    );
}
