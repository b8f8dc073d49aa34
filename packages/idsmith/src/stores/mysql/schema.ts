import type { DriverError } from '../../support/store-error.js';
import { type SchemaMarker, schemaOf } from '../schema-version.js';
import { plainText } from '../sql/values.js';
import type { Query } from './client.js';

const READ = 'SELECT version, least_reader FROM idsmith_schema LIMIT 1';

// The key lets the table have one row at most.
const CREATE = `CREATE TABLE IF NOT EXISTS idsmith_schema (
    id TINYINT NOT NULL PRIMARY KEY,
    version INT NOT NULL,
    least_reader INT NOT NULL
  ) ENGINE = InnoDB`;

const ER_NO_SUCH_TABLE = 1146;
/** ER_DBACCESS_DENIED, ER_TABLEACCESS_DENIED, ER_COLUMNACCESS_DENIED */
const FORBIDDEN: readonly unknown[] = [1044, 1142, 1143];

/** The marker in MySQL or MariaDB: the one row of `idsmith_schema`. */
export function mysqlMarker(query: Query): SchemaMarker {
  return {
    async read() {
      try {
        const [row] = (await query(READ)) as unknown[];
        if (row === undefined) return undefined;
        const [version, leastReader] = Object.values(row as object).map(plainText);
        return schemaOf(version, leastReader);
      } catch (error) {
        if ((error as DriverError).errno === ER_NO_SUCH_TABLE) return undefined;
        throw error;
      }
    },
    async write({ version, leastReader }) {
      await query(CREATE);
      await query(
        `INSERT IGNORE INTO idsmith_schema (id, version, least_reader) VALUES (1, ${version}, ${leastReader})`,
      );
    },
    isForbidden: (error) => FORBIDDEN.includes((error as DriverError).errno),
  };
}
