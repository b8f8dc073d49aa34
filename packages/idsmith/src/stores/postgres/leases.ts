import { requireNamespace } from '../../lease/namespace.js';
import type { LeaseStore } from '../../lease/port.js';
import type { DriverError } from '../../support/store-error.js';
import { leaseRecord } from '../sql/lease-row.js';
import type { SqlRun } from '../sql/runner.js';
import { onlyInteger } from '../sql/values.js';
import type { RowsOf } from './client.js';
import { OUTSIDE_TRANSACTION, type TransactionGuard } from './transaction-guard.js';

const CREATE_TABLE = `CREATE TABLE IF NOT EXISTS idsmith_leases (
    namespace text COLLATE "C" NOT NULL,
    id integer NOT NULL,
    owner text COLLATE "C",
    epoch bigint NOT NULL,
    fence bigint NOT NULL,
    expires_at bigint NOT NULL,
    label text NOT NULL,
    PRIMARY KEY (namespace, id)
  )`;

const NOW = 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint::text';

const LIST = `SELECT id::text, owner, epoch::text AS epoch, fence::text AS fence, expires_at::text AS expires_at, label
  FROM idsmith_leases WHERE namespace = $1`;

// Two ranges of the primary key. With OR, the whole namespace might be read.
const READ = `${LIST} AND id < 0 UNION ALL ${LIST} AND id >= $2 AND id < $3`;

const INSERT = `INSERT INTO idsmith_leases (namespace, id, owner, epoch, fence, expires_at, label)
  SELECT $1, $2, $3, $4, $5, $6, $7 WHERE ${OUTSIDE_TRANSACTION} ON CONFLICT DO NOTHING RETURNING id`;

// An update that waited for another one checks the condition again, on the row that the other one left.
const UPDATE = `UPDATE idsmith_leases SET owner = $3, epoch = $4, fence = $5, expires_at = $6, label = $7
  WHERE namespace = $1 AND id = $2
    AND owner IS NOT DISTINCT FROM $8 AND epoch = $9 AND fence = $10 AND expires_at = $11
    AND ${OUTSIDE_TRANSACTION}
  RETURNING id`;

/** unique_violation, duplicate_table, duplicate_object: the loser of a race to create a table may see these. */
const CREATED_BY_ANOTHER: readonly unknown[] = ['23505', '42P07', '42710'];

/** Leases in PostgreSQL: a row of `idsmith_leases` for each node id. */
export function postgresLeases(
  run: SqlRun,
  rowsOf: RowsOf,
  change: TransactionGuard['change'],
): Required<Pick<LeaseStore, 'now' | 'listLeases' | 'readLeases' | 'swapLease'>> {
  return {
    now: () => run('now', async () => onlyInteger(await rowsOf(NOW))),

    async listLeases(namespace) {
      requireNamespace(namespace);
      return run('listLeases', async () => (await rowsOf(LIST, [namespace])).map(leaseRecord));
    },

    async readLeases(namespace, first, count) {
      const values = [requireNamespace(namespace), first, first + count];
      return run('readLeases', async () => (await rowsOf(READ, values)).map(leaseRecord));
    },

    async swapLease(namespace, expected, { id, owner, epoch, fence, expiresAt, label }) {
      const values = [requireNamespace(namespace), id, owner, epoch, fence, expiresAt, label];
      const conditions = expected && [expected.owner, expected.epoch, expected.fence, expected.expiresAt];
      return run('swapLease', async () => {
        const swapped = await (conditions
          ? change(UPDATE, [...values, ...conditions])
          : change(INSERT, values));
        return swapped.length === 1;
      });
    },
  };
}

/** Creates `idsmith_leases` in the first schema of the search path, unless the table exists. */
export async function createLeaseTable(rowsOf: RowsOf): Promise<void> {
  // `CREATE TABLE IF NOT EXISTS` needs the right to create even where the table exists, so look for the table first.
  const found = await rowsOf('SELECT 1 WHERE to_regclass($1) IS NOT NULL', ['idsmith_leases']);
  if (found.length > 0) return;
  try {
    await rowsOf(CREATE_TABLE);
  } catch (error) {
    if (!CREATED_BY_ANOTHER.includes((error as DriverError).code)) throw error;
  }
}
