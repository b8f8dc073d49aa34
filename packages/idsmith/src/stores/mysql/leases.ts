import { requireNamespace } from '../../lease/namespace.js';
import type { LeaseStore } from '../../lease/port.js';
import type { DriverError } from '../../support/store-error.js';
import { leaseRecord } from '../sql/lease-row.js';
import type { SqlRun } from '../sql/runner.js';
import { onlyInteger } from '../sql/values.js';
import type { Query } from './client.js';
import { OUTSIDE_TRANSACTION } from './transaction-guard.js';

// No collation of both MySQL and MariaDB distinguishes 'x' from 'x ', so names are bytes. Without the flag FOUND_ROWS, an
// update that changes nothing counts as an update that found nothing. `swaps` makes every swap change its row.
const CREATE_TABLE = `CREATE TABLE IF NOT EXISTS idsmith_leases (
    namespace VARBINARY(1020) NOT NULL,
    id INT NOT NULL,
    owner VARBINARY(1020) NULL,
    epoch BIGINT NOT NULL,
    fence BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    label TEXT CHARACTER SET utf8mb4 NOT NULL,
    swaps BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (namespace, id)
  ) ENGINE = InnoDB ROW_FORMAT = DYNAMIC`;

// All in UTC: a local time would be ambiguous in the hour when summer time ends.
const NOW = `SELECT CAST(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 AS CHAR)`;

const LIST = `SELECT CAST(id AS CHAR) AS id, owner, CAST(epoch AS CHAR) AS epoch, CAST(fence AS CHAR) AS fence,
    CAST(expires_at AS CHAR) AS expires_at, CAST(label AS BINARY) AS label
  FROM idsmith_leases WHERE namespace = ?`;

// Two ranges of the primary key. With OR, the whole namespace would be read.
const READ = `${LIST} AND id < 0 UNION ALL ${LIST} AND id >= ? AND id < ?`;

const INSERT = `INSERT INTO idsmith_leases (owner, epoch, fence, expires_at, label, namespace, id)
  SELECT ?, ?, ?, ?, ?, ?, ? FROM DUAL WHERE ${OUTSIDE_TRANSACTION}`;

const UPDATE = `UPDATE idsmith_leases
  SET owner = ?, epoch = ?, fence = ?, expires_at = ?, label = ?, swaps = swaps + 1
  WHERE namespace = ? AND id = ? AND owner <=> ? AND epoch = ? AND fence = ? AND expires_at = ?
    AND ${OUTSIDE_TRANSACTION}`;

const ER_DUP_ENTRY = 1062;
const ER_NO_SUCH_TABLE = 1146;

/** Leases in MySQL or MariaDB: a row of `idsmith_leases` for each node id. */
export function mysqlLeases(
  run: SqlRun,
  query: Query,
): Required<Pick<LeaseStore, 'now' | 'listLeases' | 'readLeases' | 'swapLease'>> {
  const rowsOf = async (sql: string, values?: unknown[]) => (await query(sql, values)) as unknown[];
  return {
    now: () => run('now', async () => onlyInteger(await rowsOf(NOW))),

    async listLeases(namespace) {
      const name = bytes(requireNamespace(namespace));
      return run('listLeases', async () => (await rowsOf(LIST, [name])).map(leaseRecord));
    },

    async readLeases(namespace, first, count) {
      const name = bytes(requireNamespace(namespace));
      const values = [name, name, first, first + count];
      return run('readLeases', async () => (await rowsOf(READ, values)).map(leaseRecord));
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
  };
}

/** Creates `idsmith_leases` in the connection's database, unless the table exists. */
export async function createLeaseTable(query: Query): Promise<void> {
  try {
    // `CREATE TABLE IF NOT EXISTS` needs the right to create even where the table exists, so look for the table first.
    await query('SELECT 1 FROM idsmith_leases LIMIT 0');
  } catch (error) {
    if ((error as DriverError).errno !== ER_NO_SUCH_TABLE) throw error;
    await query(CREATE_TABLE);
  }
}

/** Text as bytes, which are sent unchanged with any character set of the connection and any quoting rule of the server. */
function bytes(text: string | null): Uint8Array | null {
  return text === null ? null : Buffer.from(text);
}
