import type { DriverError } from '../../support/store-error.js';
import { type SchemaMarker, schemaOf } from '../schema-version.js';
import { plainText } from '../sql/values.js';
import type { RowsOf } from './client.js';

// A view and not a table: every role can read its definition, whatever rights it has, and a missing view is no error in the log.
const READ = `SELECT pg_get_viewdef(to_regclass('idsmith_schema')) AS definition`;

/** insufficient_privilege; undefined_function, on databases that only speak the protocol of PostgreSQL */
const UNKNOWN: readonly unknown[] = ['42501', '42883'];

/** The marker in PostgreSQL: the view `idsmith_schema`, which has one row. */
export function postgresMarker(rowsOf: RowsOf): SchemaMarker {
  return {
    async read() {
      const [row] = await rowsOf(READ);
      const [definition] = Object.values(row as object);
      // What is no view is not the marker: NULL, or the text `Not a view`.
      if (definition === null || !/\bSELECT\b/.test(plainText(definition))) return undefined;
      const [, version, leastReader] =
        /\b(\d+) AS version,\s*(\d+) AS least_reader\b/.exec(plainText(definition)) ?? [];
      return schemaOf(version, leastReader);
    },
    async write({ version, leastReader }) {
      await rowsOf(
        `CREATE VIEW idsmith_schema AS SELECT ${version} AS version, ${leastReader} AS least_reader`,
      );
    },
    isForbidden: (error) => UNKNOWN.includes((error as DriverError).code),
  };
}
