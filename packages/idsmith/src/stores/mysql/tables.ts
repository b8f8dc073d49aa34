import { StoreError } from '../../errors.js';
import type { DriverError } from '../../support/store-error.js';
import { SCHEMA, type SchemaMarker, type SchemaVersion, schemaOf } from '../schema-version.js';
import type { Columns } from '../sql/columns.js';
import { mysql } from '../sql/dialect.js';
import type { SqlLineage } from '../sql/lineage.js';
import { createPasts, pastsMissing } from '../sql/pasts.js';
import type { Ask } from '../sql/session.js';
import { createTable, mayNotChange, mysqlEngine, SHOW_COLUMNS, setUpTable } from '../sql/table.js';
import { plainText } from '../sql/values.js';
import { READ_ONLY } from './session.js';

// What the store keeps in MySQL and MariaDB: the tables `idsmith_leases`, `id_sequences`, `idsmith_pasts` and
// `idsmith_schema`.

// No collation of both MySQL and MariaDB distinguishes 'x' from 'x ', so names are bytes. `swaps` makes every swap change its
// row, which counts as not found otherwise.
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

/** Marks the schema and creates `idsmith_leases` in the connection's database, unless the table exists. */
export async function createLeaseTable(ask: Ask, mark: () => Promise<void>): Promise<void> {
  try {
    // `CREATE TABLE IF NOT EXISTS` needs the right to create even where the table exists, so look for the table first.
    await ask('SELECT 1 FROM idsmith_leases LIMIT 0');
  } catch (error) {
    if ((error as DriverError).errno !== ER_NO_SUCH_TABLE) throw error;
    await mark();
    await ask(CREATE_TABLE).catch((refusal) => {
      if (!MAY_NOT_CHANGE.includes((refusal as DriverError).errno)) throw refusal;
      throw mayNotChange('leases need a table', CREATE_TABLE, refusal);
    });
  }
}

const ER_TABLE_EXISTS = 1050;
const ER_DUP_FIELDNAME = 1060;
const ER_NO_SUCH_TABLE = 1146;
const ER_LOCK_WAIT_TIMEOUT = 1205;
const writeMarker = ({ version, leastReader }: SchemaVersion) =>
  `INSERT IGNORE INTO idsmith_schema (id, version, least_reader) VALUES (1, ${version}, ${leastReader})`;

/** Everything that the store makes in MySQL or MariaDB, for an administrator who makes it by hand. */
export const mysqlTables = (): string[] => [
  CREATE_TABLE,
  createTable(mysql.types),
  createPasts(mysql.types),
  CREATE_MARKER,
  writeMarker(SCHEMA),
];

/** ER_DBACCESS_DENIED, ER_TABLEACCESS_DENIED, ER_SPECIFIC_ACCESS_DENIED */
const MAY_NOT_CHANGE: readonly unknown[] = [1044, 1142, 1227];

/** Storage engines that keep rows in memory, or nowhere. */
const VOLATILE = ['MEMORY', 'HEAP', 'BLACKHOLE'];

/**
 * Creates `id_sequences` in the connection's database, or adds the columns that an existing table lacks. Marks the schema before such
 * a change.
 */
export async function setUpSequenceTable(ask: Ask, known: Columns, mark: () => Promise<void>): Promise<void> {
  const columns = async () => {
    try {
      return await ask(SHOW_COLUMNS);
    } catch (error) {
      if ((error as DriverError).errno === ER_NO_SUCH_TABLE) return [];
      throw error;
    }
  };
  const isDone = (error: unknown) => {
    const { errno } = error as DriverError;
    return errno === ER_TABLE_EXISTS || errno === ER_DUP_FIELDNAME;
  };
  const isForbidden = (error: unknown) => MAY_NOT_CHANGE.includes((error as DriverError).errno);
  const isBusy = (error: unknown) => (error as DriverError).errno === ER_LOCK_WAIT_TIMEOUT;
  // A change that waits for its lock would make everybody wait behind it. MySQL skips the comment.
  const execute = async (sql: string) => {
    await mark();
    return ask(sql.replace(/^ALTER TABLE id_sequences /, 'ALTER TABLE id_sequences /*M!100300 NOWAIT */ '));
  };
  known.learn(await setUpTable({ columns, execute, isBusy, isDone, isForbidden }, mysql.types));
  const { engine } = await mysqlEngine(ask);
  if (engine !== undefined && VOLATILE.includes(engine.toUpperCase()))
    throw new StoreError(
      `id_sequences is in the storage engine ${engine}, which loses its rows when the server restarts, so ids would ` +
        'repeat: run ALTER TABLE id_sequences ENGINE = InnoDB',
      { reason: 'WRONG_TABLE' },
    );
}

const READ_PASTS = 'SELECT 1 FROM idsmith_pasts LIMIT 0';

/** Changes of no row, which need the rights of other changes. */
const TRY_PASTS = [
  'INSERT INTO idsmith_pasts SELECT * FROM idsmith_pasts WHERE FALSE',
  'UPDATE idsmith_pasts SET base = base WHERE FALSE',
  'DELETE FROM idsmith_pasts WHERE FALSE',
];

/**
 * Creates `idsmith_pasts` beside `id_sequences`. Where this user may not, sequences go on without it, and the lineage stays untold.
 *
 * @returns true if this user may use the table
 */
export async function setUpPasts(ask: Ask, lineage: SqlLineage): Promise<boolean> {
  const create = createPasts(mysql.types);
  let isThere = false;
  try {
    try {
      await ask(READ_PASTS);
      isThere = true;
      for (const change of TRY_PASTS) await ask(change);
    } catch (error) {
      if ((error as DriverError).errno !== ER_NO_SUCH_TABLE) throw error;
      await ask(create);
    }
    return true;
  } catch (error) {
    const { errno } = error as DriverError;
    const isReadOnly = READ_ONLY.includes(errno);
    if (!isReadOnly && !MAY_NOT_CHANGE.includes(errno)) throw error;
    // A replica takes changes once it is promoted.
    if (isReadOnly && isThere) return true;
    lineage.untold(pastsMissing(create));
    return false;
  }
}

const READ_MARKER = 'SELECT version, least_reader FROM idsmith_schema LIMIT 1';

// The key lets the table have one row at most.
const CREATE_MARKER = `CREATE TABLE IF NOT EXISTS idsmith_schema (
    id TINYINT NOT NULL PRIMARY KEY,
    version INT NOT NULL,
    least_reader INT NOT NULL
  ) ENGINE = InnoDB`;

/** ER_DBACCESS_DENIED, ER_TABLEACCESS_DENIED, ER_COLUMNACCESS_DENIED */
const MAY_NOT_READ: readonly unknown[] = [1044, 1142, 1143];

/** The marker in MySQL or MariaDB: the one row of `idsmith_schema`. */
export function mysqlMarker(ask: Ask): SchemaMarker {
  return {
    async read() {
      try {
        const [row] = (await ask(READ_MARKER)) as unknown[];
        if (row === undefined) return undefined;
        const [version, leastReader] = Object.values(row as object).map(plainText);
        return schemaOf(version, leastReader);
      } catch (error) {
        if ((error as DriverError).errno === ER_NO_SUCH_TABLE) return undefined;
        throw error;
      }
    },
    async write(schema) {
      await ask(CREATE_MARKER);
      await ask(writeMarker(schema));
    },
    isForbidden: (error) => MAY_NOT_READ.includes((error as DriverError).errno),
  };
}
