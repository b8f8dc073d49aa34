import { StoreError } from '../../errors.js';
import { requireNamespace } from '../../lease/namespace.js';
import { sequenceStore } from '../../sequence/rows.js';
import { loadDriver, ownedStore, refuseSlips, requireServerUrl } from '../driver.js';
import type { Store } from '../memory/store.js';
import {
  type DriverError,
  inTime,
  leaseRecord,
  onlyInteger,
  requireTimeout,
  type SqlStoreOptions,
  sqlRunner,
} from '../sql/runner.js';
import { ALONE, requireCommitted } from './connection.js';
import { mysqlColumns, mysqlRows, setUpMysqlTable } from './sequences.js';

/** What the store needs of a client: a pool or connection of `mysql2/promise` has it. */
export interface MysqlClient {
  query(sql: string, values: unknown[]): Promise<[result: unknown, fields: unknown]>;
  /** Of a pool, so that a connection which does not answer can be taken out of it. */
  getConnection?(): Promise<PooledConnection>;
}

interface PooledConnection extends MysqlClient {
  release(): void;
  destroy(): void;
}

/** How a MySQL store behaves. */
export type MysqlStoreOptions = SqlStoreOptions;

/** What URLs may have after their `?`: the settings of `mysql2` that text can express. */
const SETTINGS = [
  ...['host', 'port', 'user', 'password', 'database', 'charset', 'timezone', 'ssl', 'flags', 'socketPath'],
  ...['connectionLimit', 'maxIdle', 'idleTimeout', 'queueLimit', 'waitForConnections', 'connectTimeout'],
  ...['enableKeepAlive', 'keepAliveInitialDelay', 'localAddress', 'compress', 'debug', 'trace', 'typeCast'],
  ...['supportBigNumbers', 'bigNumberStrings', 'dateStrings', 'decimalNumbers', 'jsonStrings', 'rowsAsArray'],
  ...['multipleStatements', 'namedPlaceholders', 'nestTables', 'stringifyObjects', 'insecureAuth'],
];

// No collation of both MySQL and MariaDB tells 'x' from 'x ': names are bytes. `swaps` makes every swap change its
// row, because without the flag FOUND_ROWS an update that changes nothing counts as one that found nothing.
const TABLES = [
  `CREATE TABLE IF NOT EXISTS idsmith_leases (
    namespace VARBINARY(1020) NOT NULL,
    id INT NOT NULL,
    owner VARBINARY(1020) NULL,
    epoch BIGINT NOT NULL,
    fence BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    label TEXT CHARACTER SET utf8mb4 NOT NULL,
    swaps BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (namespace, id)
  ) ENGINE = InnoDB ROW_FORMAT = DYNAMIC`,
];

// In UTC throughout: a local time would be ambiguous in the hour when summer time ends.
const NOW = `SELECT CAST(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 AS CHAR)`;

const LIST = `SELECT CAST(id AS CHAR) AS id, owner, CAST(epoch AS CHAR) AS epoch, CAST(fence AS CHAR) AS fence,
    CAST(expires_at AS CHAR) AS expires_at, CAST(label AS BINARY) AS label
  FROM idsmith_leases WHERE namespace = ?`;

const INSERT = `INSERT INTO idsmith_leases (owner, epoch, fence, expires_at, label, namespace, id)
  SELECT ?, ?, ?, ?, ?, ?, ? FROM DUAL WHERE ${ALONE}`;

const UPDATE = `UPDATE idsmith_leases
  SET owner = ?, epoch = ?, fence = ?, expires_at = ?, label = ?, swaps = swaps + 1
  WHERE namespace = ? AND id = ? AND owner <=> ? AND epoch = ? AND fence = ? AND expires_at = ?
    AND ${ALONE}`;

const ER_DUP_ENTRY = 1062;
const ER_NO_SUCH_TABLE = 1146;
/** ER_CHECKREAD, ER_LOCK_DEADLOCK: the statement was rolled back. A lock wait that timed out has been long enough. */
const ROLLED_BACK: readonly unknown[] = [1020, 1213];
/** ER_OPTION_PREVENTS_STATEMENT, ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION, ER_READ_ONLY_MODE */
const READ_ONLY: readonly unknown[] = [1290, 1792, 1836];

/**
 * A store in MySQL or MariaDB. The tables `idsmith_leases` and `id_sequences` are made when leases or sequences are first
 * used, in the connection's database. An `id_sequences` that another program has made gets the columns it lacks.
 *
 * The client stays yours: `close()` does not end it. A change on a connection that is inside a transaction is refused, because a
 * rollback would undo it. The settings for big numbers, character sets and time zones do not matter.
 *
 * @throws InvalidOptionError if `timeout` is not a number of ms
 */
export function mysqlStore(client: MysqlClient, options: MysqlStoreOptions = {}): Store {
  const query = queryInTime(client, requireTimeout(options));
  const rowsOf = async (sql: string, values?: unknown[]) => (await query(sql, values)) as unknown[];
  const runner = (setUp: () => Promise<void>) =>
    sqlRunner({ name: 'mysql', setUp, isTransient: ({ errno }) => ROLLED_BACK.includes(errno) });
  const run = runner(async () => {
    await requireAutocommit(rowsOf);
    await createTables(query);
  });
  const columns = mysqlColumns();
  const runSequences = runner(async () => {
    await requireAutocommit(rowsOf);
    await setUpMysqlTable(query, columns);
  });
  return {
    ...sequenceStore(mysqlRows(runSequences, { query, columns })),
    durable: true,

    now: () => run('now', async () => onlyInteger(await rowsOf(NOW))),

    async listLeases(namespace) {
      const name = bytes(requireNamespace(namespace));
      return run('listLeases', async () => (await rowsOf(LIST, [name])).map(leaseRecord));
    },

    async swapLease(namespace, expected, { id, owner, epoch, fence, expiresAt, label }) {
      const name = bytes(requireNamespace(namespace));
      const values = [bytes(owner), epoch, fence, expiresAt, bytes(label), name, id];
      const sql = expected ? UPDATE : INSERT;
      if (expected) values.push(bytes(expected.owner), expected.epoch, expected.fence, expected.expiresAt);
      return run('swapLease', async () => {
        try {
          const { affectedRows } = (await query(sql, values)) as { affectedRows: number };
          return affectedRows === 1;
        } catch (error) {
          // `INSERT IGNORE` would turn every other error into a warning, too.
          if ((error as DriverError).errno === ER_DUP_ENTRY) return false;
          throw error;
        }
      });
    },

    async close() {},
  };
}

type Query = (sql: string, values?: unknown[]) => Promise<unknown>;

function queryInTime(client: MysqlClient, timeout: number): Query {
  return (sql, values = []) => {
    let connection: PooledConnection | undefined;
    let isLate = false;
    const ask = async () => {
      connection = await client.getConnection?.();
      try {
        // Whoever asked is gone.
        if (isLate) return undefined;
        const [answer] = await (connection ?? client).query(sql, values);
        requireCommitted(answer);
        return answer;
      } catch (error) {
        // The server has become a replica: a new connection may find the primary. Or somebody has left the connection inside a
        // transaction: no one could use it as it is, and its end undoes what must not count.
        const isUseless = READ_ONLY.includes((error as DriverError).errno) || error instanceof StoreError;
        if (isUseless) connection?.destroy();
        throw error;
      } finally {
        connection?.release();
      }
    };
    return inTime(timeout, ask(), () => {
      isLate = true;
      connection?.destroy();
    });
  };
}

/**
 * Without it nothing would ever be committed, and others would be given the same again. The statements of the set-up would end
 * a transaction that is open.
 */
async function requireAutocommit(rowsOf: (sql: string) => Promise<unknown[]>): Promise<void> {
  if (onlyInteger(await rowsOf(`SELECT CAST((${ALONE}) AS CHAR)`)) !== 1)
    throw new StoreError(
      'mysql store: connections need autocommit = 1 and no open transaction, and this one has either 0 or a transaction',
    );
}

/** Bytes are sent as they are, whatever the connection's character set and the server's rules for quoting. */
function bytes(text: string | null): Uint8Array | null {
  return text === null ? null : Buffer.from(text);
}

async function createTables(query: (sql: string) => Promise<unknown>): Promise<void> {
  for (const definition of TABLES) {
    const name = /EXISTS (\w+)/.exec(definition)?.[1];
    try {
      // Asked first, because `CREATE TABLE IF NOT EXISTS` needs the right to create even where there is nothing to do.
      await query(`SELECT 1 FROM ${name} LIMIT 0`);
    } catch (error) {
      if ((error as DriverError).errno !== ER_NO_SUCH_TABLE) throw error;
      await query(definition);
    }
  }
}

/**
 * The store on a pool on a `mysql:` URL, for `openStore`.
 *
 * @internal
 */
export async function openMysql(url: string): Promise<Store> {
  const uri = requireServerUrl(url);
  refuseSlips(url, SETTINGS);
  const { default: mysql } = await loadDriver('mysql2', () => import('mysql2/promise'));
  const pool = mysql.createPool({ uri, supportBigNumbers: true, bigNumberStrings: true });
  return ownedStore(mysqlStore(pool), () => pool.end());
}
