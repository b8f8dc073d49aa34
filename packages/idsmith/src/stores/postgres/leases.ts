import type { DriverError } from '../../support/store-error.js';
import type { RowsOf } from './client.js';
import { OUTSIDE_TRANSACTION } from './transaction-guard.js';

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

const listOf = (namespace: string) =>
  `SELECT id::text, owner, epoch::text AS epoch, fence::text AS fence, expires_at::text AS expires_at, label
  FROM idsmith_leases WHERE namespace = ${namespace}`;

/** The statements on leases in PostgreSQL. */
export const LEASES = {
  now: 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint::text',
  list: listOf('$1'),
  // Two ranges of the primary key. With OR, the whole namespace might be read.
  read: `${listOf('$1')} AND id < 0 UNION ALL ${listOf('$2')} AND id >= $3 AND id < $4`,
  insert: `INSERT INTO idsmith_leases (owner, epoch, fence, expires_at, label, namespace, id)
  SELECT $1, $2, $3, $4, $5, $6, $7 WHERE ${OUTSIDE_TRANSACTION} ON CONFLICT DO NOTHING RETURNING id`,
  // An update that waited for another one checks the condition again, on the row that the other one left.
  update: `UPDATE idsmith_leases SET owner = $1, epoch = $2, fence = $3, expires_at = $4, label = $5
  WHERE namespace = $6 AND id = $7
    AND owner IS NOT DISTINCT FROM $8 AND epoch = $9 AND fence = $10 AND expires_at = $11
    AND ${OUTSIDE_TRANSACTION}
  RETURNING id`,
  // A rollback would bring back nothing but records of a trial.
  remove: 'DELETE FROM idsmith_leases WHERE namespace = $1',
};

/** unique_violation, duplicate_table, duplicate_object: the loser of a race to create a table may see these. */
const CREATED_BY_ANOTHER: readonly unknown[] = ['23505', '42P07', '42710'];

/** Marks the schema and creates `idsmith_leases` in the first schema of the search path, unless the table exists. */
export async function createLeaseTable(rowsOf: RowsOf, mark: () => Promise<void>): Promise<void> {
  // `CREATE TABLE IF NOT EXISTS` needs the right to create even where the table exists, so look for the table first.
  const found = await rowsOf('SELECT 1 WHERE to_regclass($1) IS NOT NULL', ['idsmith_leases']);
  if (found.length > 0) return;
  await mark();
  try {
    await rowsOf(CREATE_TABLE);
  } catch (error) {
    if (!CREATED_BY_ANOTHER.includes((error as DriverError).code)) throw error;
  }
}
