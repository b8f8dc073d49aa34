import type { SqlExecutor } from '../../drivers/port.js';
import { InvalidOptionError } from '../../errors.js';
import { show } from '../../options.js';
import type { DriverError } from '../../support/store-error.js';
import {
  type ColumnName,
  type ForeignDialect,
  type ForeignGenerator,
  fieldsOf,
  whole,
} from './foreign-ids.js';

const COLUMN = `SELECT CAST(column_type AS CHAR) AS type, CAST(extra AS CHAR) AS extra, CAST(column_default AS CHAR) AS expression,
    CAST(column_name AS CHAR) AS columnname FROM information_schema.columns
  WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ? AND column_name = ?`;

/** ER_LOCK_WAIT_TIMEOUT */
const LOCK_WAIT_TIMEOUT = 1205;

export const mysqlIds: ForeignDialect = {
  async look(sql, { table, column, native }: ColumnName) {
    const parts = table.split('.');
    const [row] = await sql.query(COLUMN, [parts.at(-2) ?? null, parts.at(-1) as string, column]);
    if (row === undefined)
      throw new InvalidOptionError(
        `there is no column ${show(column)} in a table ${show(table)} of this database`,
      );
    const [type, extra = '', expression, found] = fieldsOf(row);
    const name = quoted(table);
    const quotedColumn = quoted(found as string);
    const end = `ALTER TABLE ${name} MODIFY ${quotedColumn} ${type} NOT NULL`;
    const generators: ForeignGenerator[] = [];
    if (/auto_increment/i.test(extra))
      generators.push({
        what: `AUTO_INCREMENT of ${name}.${quotedColumn}`,
        reached: (await autoIncrement(sql, name)) - 1n,
        // An id from elsewhere moves it forward, so nothing can hold it below.
        end: undefined,
        isActive: true,
        ways: () => [end],
      });
    const sequence = /nextval\((.+)\)/i.exec(expression ?? '')?.[1];
    if (sequence !== undefined)
      generators.push(await generator(sql, sequence, `the default ${expression}`, (hold) => [end, hold]));
    else if (expression !== undefined && expression !== 'NULL')
      generators.push({
        what: `the default ${expression}`,
        reached: 0n,
        end: undefined,
        isActive: true,
        ways: () => [end],
      });
    if (native !== undefined)
      generators.push(await generator(sql, quoted(native), `the sequence ${native}`, (hold) => [hold]));
    return { table: name, column: quotedColumn, type: type as string, generators };
  },

  async locked(sql, table, work) {
    // MySQL has no NOWAIT here. A second is short enough for those who wait behind.
    await sql.query('SET SESSION lock_wait_timeout = 1');
    try {
      await sql.query(`LOCK TABLES ${table} READ`);
      try {
        return await work();
      } finally {
        await sql.query('UNLOCK TABLES');
      }
    } finally {
      await sql.query('SET SESSION lock_wait_timeout = DEFAULT');
    }
  },

  isBusy: (error) => (error as DriverError)?.errno === LOCK_WAIT_TIMEOUT,

  text: (expression) => `CAST(${expression} AS CHAR)`,
};

/** The next value of a table's AUTO_INCREMENT. The statistics of MySQL may be old, and this statement is not. */
async function autoIncrement(sql: SqlExecutor, table: string): Promise<bigint> {
  const [row] = await sql.query(`SHOW CREATE TABLE ${table}`);
  return whole(/AUTO_INCREMENT=(\d+)/.exec(fieldsOf(row)[1] ?? '')?.[1] ?? '1');
}

async function generator(
  sql: SqlExecutor,
  sequence: string,
  what: string,
  ways: (hold: string) => string[],
): Promise<ForeignGenerator> {
  const [row] = await sql
    .query(
      `SELECT CAST(next_not_cached_value AS CHAR) AS next, CAST(increment AS CHAR) AS step,
        CAST(maximum_value AS CHAR) AS highest, CAST(cycle_option AS CHAR) AS cycles FROM ${sequence}`,
    )
    .catch((error: unknown) => {
      throw new InvalidOptionError(`there is no sequence ${show(sequence)} in this database`, {
        cause: error,
      });
    });
  const [next, stepText, highest, cycles] = fieldsOf(row);
  const step = whole(stepText);
  if (step < 0n) throw new InvalidOptionError(`${what} descends: adopt is for ids that ascend`);
  // A value may stand for the block of ids above it.
  const block = step > 0n ? step - 1n : 0n;
  const isHeld = cycles === '0' && whole(highest) < MAX_HELD;
  return {
    what,
    reached: whole(next) - 1n + block,
    end: isHeld ? whole(highest) + block : undefined,
    isActive: true,
    ways: (room) => ways(`ALTER SEQUENCE ${sequence} MAXVALUE ${room} NOCYCLE`),
  };
}

/** The end that sequences have by default, 2^63 − 2: nobody has chosen it. */
const MAX_HELD = 2n ** 63n - 2n;

const quoted = (name: string) =>
  name
    .split('.')
    .map((part) => `\`${part.replaceAll('`', '``')}\``)
    .join('.');
