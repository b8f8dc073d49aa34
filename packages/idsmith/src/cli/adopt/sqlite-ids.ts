import { InvalidOptionError } from '../../errors.js';
import { show } from '../../options.js';
import { isBusy } from '../../stores/sqlite/lock-watch.js';
import type { DriverError } from '../../support/store-error.js';
import {
  type ColumnName,
  type ForeignDialect,
  type ForeignGenerator,
  fieldsOf,
  whole,
} from './foreign-ids.js';

export const sqliteIds: ForeignDialect = {
  async look(sql, { table, column, native }: ColumnName) {
    if (native !== undefined) throw new InvalidOptionError('--native: SQLite has no sequences of its own');
    const columns = await sql.query('SELECT name, type, pk, dflt_value FROM pragma_table_info(?)', [table]);
    const fields = columns.map(fieldsOf).find(([name]) => name?.toLowerCase() === column.toLowerCase());
    if (fields === undefined)
      throw new InvalidOptionError(
        `there is no column ${show(column)} in a table ${show(table)} of this database`,
      );
    const [name, type = '', pk, expression] = fields;
    const keys = columns.filter((row) => fieldsOf(row)[2] !== '0').length;
    const generators: ForeignGenerator[] = [];
    // Such a column is the number of the row itself, and SQLite fills it in where it is left out.
    if (/^integer$/i.test(type) && pk === '1' && keys === 1)
      generators.push({
        what: `INTEGER PRIMARY KEY of ${quoted(table)}`,
        reached: await highestOfRowids(sql, table),
        end: undefined,
        isActive: true,
        ways: () => [],
      });
    else if (expression !== undefined)
      generators.push({
        what: `the default ${expression}`,
        reached: 0n,
        end: undefined,
        isActive: true,
        ways: () => [],
      });
    return { table: quoted(table), column: quoted(name as string), type, generators };
  },

  // The transaction is one that writes, and SQLite has one of those at a time.
  locked: (_sql, _table, work) => work(),

  isBusy: (error) => isBusy((error ?? {}) as DriverError),

  text: (expression) => `CAST(${expression} AS TEXT)`,
};

/** The highest row number of a table with AUTOINCREMENT, which also counts rows that were deleted. */
async function highestOfRowids(sql: Parameters<ForeignDialect['look']>[0], table: string): Promise<bigint> {
  const [found] = await sql.query(`SELECT name FROM sqlite_master WHERE name = 'sqlite_sequence'`);
  if (found === undefined) return 0n;
  const [row] = await sql.query('SELECT CAST(seq AS TEXT) AS seq FROM sqlite_sequence WHERE name = ?', [
    table,
  ]);
  return whole(fieldsOf(row)[0]);
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;
