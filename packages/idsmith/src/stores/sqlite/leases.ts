import { requireNamespace } from '../../lease/namespace.js';
import type { LeaseStore } from '../../lease/port.js';
import { leaseRecord } from '../sql/lease-row.js';
import { onlyInteger } from '../sql/values.js';
import { readOnly, type SqliteConnection, type SqliteRunner, transact } from './connection.js';

const CREATE_TABLE = `CREATE TABLE IF NOT EXISTS idsmith_leases (
    namespace TEXT NOT NULL,
    id INTEGER NOT NULL,
    owner TEXT,
    epoch INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    label TEXT NOT NULL,
    PRIMARY KEY (namespace, id)
  ) WITHOUT ROWID`;

const FIND_TABLE = `SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'idsmith_leases'`;

// Julian days; 2440587.5 is the start of 1970. SQLite's clock has whole milliseconds, so rounding restores them.
const NOW = `SELECT CAST(CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) AS TEXT)`;

const LIST = `SELECT CAST(id AS TEXT) AS id, owner, CAST(epoch AS TEXT) AS epoch, CAST(fence AS TEXT) AS fence,
    CAST(expires_at AS TEXT) AS expires_at, label
  FROM idsmith_leases WHERE namespace = ?`;

// Two ranges of the primary key. With OR, the whole namespace would be read.
const READ = `${LIST} AND id < 0 UNION ALL ${LIST} AND id >= ? AND id < ?`;

const INSERT = `INSERT INTO idsmith_leases (owner, epoch, fence, expires_at, label, namespace, id)
  VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;

const UPDATE = `UPDATE idsmith_leases SET owner = ?, epoch = ?, fence = ?, expires_at = ?, label = ?
  WHERE namespace = ? AND id = ? AND owner IS ? AND epoch = ? AND fence = ? AND expires_at = ?`;

/** Leases in SQLite: a row of `idsmith_leases` for each node id. */
export function sqliteLeases(
  db: SqliteConnection,
  runner: SqliteRunner,
): Required<Pick<LeaseStore, 'now' | 'listLeases' | 'readLeases' | 'swapLease'>> {
  const run = runner(() => (db.prepare(FIND_TABLE).all().length === 0 ? [CREATE_TABLE] : []));
  return {
    now: () => run('now', () => onlyInteger(db.prepare(NOW).all())),

    async listLeases(namespace) {
      requireNamespace(namespace);
      const select = () => db.prepare(LIST).all(namespace);
      return run('listLeases', () => readOnly(db, select).map(leaseRecord));
    },

    async readLeases(namespace, first, count) {
      requireNamespace(namespace);
      const select = () => db.prepare(READ).all(namespace, namespace, first, first + count);
      return run('readLeases', () => readOnly(db, select).map(leaseRecord));
    },

    async swapLease(namespace, expected, { id, owner, epoch, fence, expiresAt, label }) {
      const values = [owner, epoch, fence, expiresAt, label, requireNamespace(namespace), id];
      if (expected) values.push(expected.owner, expected.epoch, expected.fence, expected.expiresAt);
      const sql = expected ? UPDATE : INSERT;
      const { changes } = await run('swapLease', () => transact(db, () => db.prepare(sql).run(...values)));
      return Number(changes) === 1;
    },
  };
}
