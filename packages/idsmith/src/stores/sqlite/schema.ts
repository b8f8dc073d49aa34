import type { SqliteConnection } from '../../executor/drivers.js';
import { requireUsable, SCHEMA, type SchemaVersion, schemaOf } from '../schema-version.js';
import { plainText } from '../sql/values.js';
import type { SqliteRunner } from './connection.js';

const FIND_TABLE = `SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'idsmith_schema'`;
const READ = 'SELECT version, least_reader FROM idsmith_schema LIMIT 1';

// The key lets the table have one row at most.
const MARK = [
  `CREATE TABLE IF NOT EXISTS idsmith_schema (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    version INTEGER NOT NULL,
    least_reader INTEGER NOT NULL
  )`,
  `INSERT OR IGNORE INTO idsmith_schema (id, version, least_reader)
    VALUES (1, ${SCHEMA.version}, ${SCHEMA.leastReader})`,
];

/**
 * The marker of a SQLite file: the one row of `idsmith_schema`. Called inside a transaction.
 *
 * @returns `undefined` if the file has no marker
 * @throws StoreError when only later libraries may use the file
 */
export function readMarker(db: SqliteConnection): SchemaVersion | undefined {
  const [row] = db.prepare(FIND_TABLE).all().length === 0 ? [] : db.prepare(READ).all();
  if (row === undefined) return undefined;
  const [version, leastReader] = Object.values(row as object).map(plainText);
  const schema = schemaOf(version, leastReader);
  requireUsable('sqlite', schema);
  return schema;
}

/** A runner that looks at the marker before it makes tables, and marks a file in which it makes some. */
export function withSchema(db: SqliteConnection, runner: SqliteRunner): SqliteRunner {
  return (tables, patience) =>
    runner(() => {
      const marker = readMarker(db);
      const statements = tables();
      return marker === undefined && statements.length > 0 ? [...MARK, ...statements] : statements;
    }, patience);
}
