import type { DriverError } from '../../support/store-error.js';
import { SCHEMA, type SchemaMarker, type SchemaVersion, schemaOf } from '../schema-version.js';
import type { Columns } from '../sql/columns.js';
import { postgres } from '../sql/dialect.js';
import type { SqlLineage } from '../sql/lineage.js';
import { createPasts, pastsMissing } from '../sql/pasts.js';
import type { Ask } from '../sql/session.js';
import { createTable, mayNotChange, setUpTable } from '../sql/table.js';
import { plainText } from '../sql/values.js';

// What the store keeps in PostgreSQL: `idsmith_leases`, `id_sequences`, `idsmith_pasts`, and the view `idsmith_schema`.

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

/** Marks the schema and creates `idsmith_leases` in the first schema of the search path, unless the table exists. */
export async function createLeaseTable(ask: Ask, mark: () => Promise<void>): Promise<void> {
  // `CREATE TABLE IF NOT EXISTS` needs the right to create even where the table exists, so look for the table first.
  const found = await ask('SELECT 1 WHERE to_regclass($1) IS NOT NULL', ['idsmith_leases']);
  if (found.length > 0) return;
  await mark();
  try {
    await ask(CREATE_TABLE);
  } catch (error) {
    const { code } = error as DriverError;
    if (code === INSUFFICIENT_PRIVILEGE) throw mayNotChange('leases need a table', CREATE_TABLE, error);
    if (!DONE_BY_ANOTHER.includes(code)) throw error;
  }
}

const COLUMNS = `SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
  WHERE attrelid = to_regclass('id_sequences') AND attnum > 0 AND NOT attisdropped`;

/** unique_violation, duplicate_table, duplicate_object, duplicate_column: another process was quicker. */
const DONE_BY_ANOTHER: readonly unknown[] = ['23505', '42P07', '42710', '42701'];
const INSUFFICIENT_PRIVILEGE = '42501';
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * A change of the table that fails at once if somebody uses the table. A change that waits for its lock would make everybody wait
 * behind it.
 */
const atOnce = (sql: string) =>
  `DO $$ BEGIN LOCK TABLE id_sequences IN ACCESS EXCLUSIVE MODE NOWAIT; ${sql}; END $$`;

/**
 * Creates `id_sequences` in the first schema of the search path, or adds the columns that an existing table lacks. Marks the schema
 * before such a change.
 */
export async function setUpSequenceTable(
  ask: Ask,
  columns: Columns,
  mark: () => Promise<void>,
): Promise<void> {
  const server = {
    columns: () => ask(COLUMNS),
    execute: async (sql: string) => {
      await mark();
      return ask(sql.startsWith('ALTER') ? atOnce(sql) : sql);
    },
    isBusy: (error: unknown) => (error as DriverError).code === LOCK_NOT_AVAILABLE,
    isDone: (error: unknown) => DONE_BY_ANOTHER.includes((error as DriverError).code),
    isForbidden: (error: unknown) => (error as DriverError).code === INSUFFICIENT_PRIVILEGE,
  };
  columns.learn(await setUpTable(server, postgres.types));
}

const MAY_USE = `SELECT ${['SELECT', 'INSERT', 'UPDATE', 'DELETE']
  .map((right) => `has_table_privilege(to_regclass('idsmith_pasts'), '${right}')`)
  .join(' AND ')} AS may_use`;

/** insufficient_privilege, read_only_sql_transaction */
const MAY_NOT_CREATE: readonly unknown[] = [INSUFFICIENT_PRIVILEGE, '25006'];

/**
 * Creates `idsmith_pasts` beside `id_sequences`. Where this user may not, sequences go on without it, and the lineage stays untold.
 *
 * @returns true if this user may use the table
 */
export async function setUpPasts(ask: Ask, lineage: SqlLineage): Promise<boolean> {
  const create = createPasts(postgres.types);
  // Null if there is no such table.
  const mayUse = async () => Object.values((await ask(MAY_USE))[0] as object)[0] as boolean | string | null;
  try {
    if ((await mayUse()) === null) await ask(create);
  } catch (error) {
    const { code } = error as DriverError;
    if (!DONE_BY_ANOTHER.includes(code) && !MAY_NOT_CREATE.includes(code)) throw error;
  }
  if (['true', 't'].includes(String(await mayUse()))) return true;
  lineage.untold(pastsMissing(create));
  return false;
}

// A view and not a table: every role can read its definition, whatever rights it has, and a missing view is no error in the log.
const READ = `SELECT pg_get_viewdef(to_regclass('idsmith_schema')) AS definition`;

/** insufficient_privilege; undefined_function, on databases that only speak the protocol of PostgreSQL */
const UNKNOWN: readonly unknown[] = ['42501', '42883'];

const createMarker = ({ version, leastReader }: SchemaVersion) =>
  `CREATE VIEW idsmith_schema AS SELECT ${version} AS version, ${leastReader} AS least_reader`;

/** Everything that the store makes in PostgreSQL, for an administrator who makes it by hand. */
export const postgresTables = (): string[] => [
  CREATE_TABLE,
  createTable(postgres.types),
  createPasts(postgres.types),
  createMarker(SCHEMA),
];

/** The marker in PostgreSQL: the view `idsmith_schema`, which has one row. */
export function postgresMarker(ask: Ask): SchemaMarker {
  return {
    async read() {
      const [row] = await ask(READ);
      const [definition] = Object.values(row as object);
      // What is no view is not the marker: NULL, or the text `Not a view`.
      if (definition === null || !/\bSELECT\b/.test(plainText(definition))) return undefined;
      const [, version, leastReader] =
        /\b(\d+) AS version,\s*(\d+) AS least_reader\b/.exec(plainText(definition)) ?? [];
      return schemaOf(version, leastReader);
    },
    async write(schema) {
      await ask(createMarker(schema));
    },
    isForbidden: (error) => UNKNOWN.includes((error as DriverError).code),
  };
}
