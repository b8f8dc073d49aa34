import type { DriverError } from '../../support/store-error.js';
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

const LIST = `SELECT CAST(id AS CHAR) AS id, owner, CAST(epoch AS CHAR) AS epoch, CAST(fence AS CHAR) AS fence,
    CAST(expires_at AS CHAR) AS expires_at, CAST(label AS BINARY) AS label
  FROM idsmith_leases WHERE namespace = UNHEX(?)`;

/** The placeholder of a number. Text comes as the digits of its bytes, for UNHEX. */
const N = 'CAST(? AS SIGNED)';

/** The statements on leases in MySQL and MariaDB. */
export const LEASES = {
  // All in UTC: a local time would be ambiguous in the hour when summer time ends.
  now: `SELECT CAST(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 AS CHAR) AS ms`,
  list: LIST,
  // Two ranges of the primary key. With OR, the whole namespace would be read.
  read: `${LIST} AND id < 0 UNION ALL ${LIST} AND id >= ${N} AND id < ${N}`,
  insert: `INSERT INTO idsmith_leases (owner, epoch, fence, expires_at, label, namespace, id)
  SELECT UNHEX(?), ${N}, ${N}, ${N}, UNHEX(?), UNHEX(?), ${N} FROM DUAL WHERE ${OUTSIDE_TRANSACTION}`,
  update: `UPDATE idsmith_leases
  SET owner = UNHEX(?), epoch = ${N}, fence = ${N}, expires_at = ${N}, label = UNHEX(?), swaps = swaps + 1
  WHERE namespace = UNHEX(?) AND id = ${N}
    AND owner <=> UNHEX(?) AND epoch = ${N} AND fence = ${N} AND expires_at = ${N} AND ${OUTSIDE_TRANSACTION}`,
  remove: `DELETE FROM idsmith_leases WHERE namespace = UNHEX(?) AND ${OUTSIDE_TRANSACTION}`,
};

const ER_NO_SUCH_TABLE = 1146;

/** Marks the schema and creates `idsmith_leases` in the connection's database, unless the table exists. */
export async function createLeaseTable(query: Query, mark: () => Promise<void>): Promise<void> {
  try {
    // `CREATE TABLE IF NOT EXISTS` needs the right to create even where the table exists, so look for the table first.
    await query('SELECT 1 FROM idsmith_leases LIMIT 0');
  } catch (error) {
    if ((error as DriverError).errno !== ER_NO_SUCH_TABLE) throw error;
    await mark();
    await query(CREATE_TABLE);
  }
}
