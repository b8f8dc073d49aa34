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

/**
 * The statements that create `idsmith_leases`, unless the table exists.
 *
 * @param rowsOf gives the rows of a query; called inside a transaction
 */
export const leaseTable = (rowsOf: (sql: string) => unknown[]) =>
  rowsOf(FIND_TABLE).length === 0 ? [CREATE_TABLE] : [];

const LIST = `SELECT CAST(id AS TEXT) AS id, owner, CAST(epoch AS TEXT) AS epoch, CAST(fence AS TEXT) AS fence,
    CAST(expires_at AS TEXT) AS expires_at, label
  FROM idsmith_leases WHERE namespace = ?`;

/** The statements on leases in SQLite. Columns of numbers turn text into numbers, also where they are compared. */
export const LEASES = {
  // Julian days; 2440587.5 is the start of 1970. SQLite's clock has whole milliseconds, so rounding restores them.
  now: `SELECT CAST(CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) AS TEXT)`,
  list: LIST,
  // Two ranges of the primary key. With OR, the whole namespace would be read.
  read: `${LIST} AND id < 0 UNION ALL ${LIST} AND id >= ? AND id < ?`,
  insert: `INSERT INTO idsmith_leases (owner, epoch, fence, expires_at, label, namespace, id)
  VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING 1`,
  update: `UPDATE idsmith_leases SET owner = ?, epoch = ?, fence = ?, expires_at = ?, label = ?
  WHERE namespace = ? AND id = ? AND owner IS ? AND epoch = ? AND fence = ? AND expires_at = ?
  RETURNING 1`,
  remove: 'DELETE FROM idsmith_leases WHERE namespace = ?',
};
