import type { SqliteConnection } from '../../drivers/sqlite.js';
import { requireUsable, SCHEMA, type SchemaVersion, schemaOf } from '../schema-version.js';
import { sqlite } from '../sql/dialect.js';
import { createPasts } from '../sql/pasts.js';
import { additions, createTable } from '../sql/table.js';
import { plainText } from '../sql/values.js';

// What the store keeps in a SQLite file: the tables `idsmith_leases`, `id_sequences`, `idsmith_pasts` and `idsmith_schema`.

export const CREATE_LEASES = `CREATE TABLE IF NOT EXISTS idsmith_leases (
    namespace TEXT NOT NULL,
    id INTEGER NOT NULL,
    owner TEXT,
    epoch INTEGER NOT NULL,
    fence INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    label TEXT NOT NULL,
    PRIMARY KEY (namespace, id)
  ) WITHOUT ROWID`;

const findTable = (name: string) => `SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '${name}'`;

/**
 * The statements that create `idsmith_leases`, unless the table exists.
 *
 * @param rowsOf gives the rows of a query; called inside a transaction
 */
export const leaseTable = (rowsOf: (sql: string) => unknown[]) =>
  rowsOf(findTable('idsmith_leases')).length === 0 ? [CREATE_LEASES] : [];

/**
 * The statements that create `id_sequences` and `idsmith_pasts`, or add the missing columns to an existing table.
 *
 * @param rowsOf gives the rows of a query; called inside a transaction
 */
export function sqliteTable(rowsOf: (sql: string) => unknown[]): string[] {
  const present = rowsOf(`SELECT name FROM pragma_table_info('id_sequences')`);
  const pasts = rowsOf(findTable('idsmith_pasts')).length === 0 ? [createPasts(sqlite.types)] : [];
  if (present.length === 0) return [createTable(sqlite.types), ...pasts];
  const missing = additions(present, sqlite.types).map((addition) => `ALTER TABLE id_sequences ${addition}`);
  return [...missing, ...pasts];
}

const FIND_MARKER = findTable('idsmith_schema');
export const READ_MARKER = 'SELECT version, least_reader FROM idsmith_schema LIMIT 1';

// The key lets the table have one row at most.
export const CREATE_SCHEMA = `CREATE TABLE IF NOT EXISTS idsmith_schema (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    version INTEGER NOT NULL,
    least_reader INTEGER NOT NULL
  )`;

export const MARK = [
  CREATE_SCHEMA,
  `INSERT OR IGNORE INTO idsmith_schema (id, version, least_reader)
    VALUES (1, ${SCHEMA.version}, ${SCHEMA.leastReader})`,
];

/** Everything that the store makes in a SQLite file, for an administrator who makes it by hand. */
export const sqliteTables = (): string[] => [
  CREATE_LEASES,
  createTable(sqlite.types),
  createPasts(sqlite.types),
  ...MARK,
];

/**
 * The marker of a SQLite file: the one row of `idsmith_schema`. Called inside a transaction.
 *
 * @returns `undefined` if the file has no marker
 * @throws StoreError when only later libraries may use the file
 */
export function readMarker(db: SqliteConnection): SchemaVersion | undefined {
  const [row] = db.prepare(FIND_MARKER).all().length === 0 ? [] : db.prepare(READ_MARKER).all();
  if (row === undefined) return undefined;
  const [version, leastReader] = Object.values(row as object).map(plainText);
  const schema = schemaOf(version, leastReader);
  requireUsable('sqlite', schema);
  return schema;
}

/** The statements that create tables, after a look at the marker. A file in which some are made is marked. */
export function withMarker(db: SqliteConnection, tables: () => readonly string[]): () => readonly string[] {
  return () => {
    const marker = readMarker(db);
    const statements = tables();
    return marker === undefined && statements.length > 0 ? [...MARK, ...statements] : statements;
  };
}
