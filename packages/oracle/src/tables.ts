import { backoff, pause, StoreError, systemTimer } from 'idsmith/internal';
import { MAX_ID, MIN_ID, plainText, type SchemaMarker, schemaOf } from 'idsmith/internal/stores';
import type { OracleSession } from './client.js';
import { isFault } from './faults.js';

const NUMBER = 'NUMBER(19)';

/** The four columns that other programs know. */
const SHARED_COLUMNS = `name VARCHAR2(255 CHAR) NOT NULL PRIMARY KEY, next_block_start ${NUMBER} NOT NULL,
  block_size NUMBER(10) NOT NULL, exhausted NUMBER(1) DEFAULT 0 NOT NULL`;

/** The columns that idsmith adds. Other programs insert four values without naming the columns, so these are invisible. */
const OWN_COLUMNS = new Map([
  ['first_id', `${NUMBER} INVISIBLE`],
  ['step', `${NUMBER} INVISIBLE DEFAULT 1 NOT NULL`],
  ['min_id', `${NUMBER} INVISIBLE DEFAULT ${MIN_ID} NOT NULL`],
  ['max_id', `${NUMBER} INVISIBLE DEFAULT ${MAX_ID} NOT NULL`],
  ['cycles', 'NUMBER(1) INVISIBLE DEFAULT 0 NOT NULL'],
  ['generation', `${NUMBER} INVISIBLE DEFAULT 0 NOT NULL`],
  ['swap_mark', `${NUMBER} INVISIBLE DEFAULT 0 NOT NULL`],
]);

const definitions = (columns: readonly string[]) =>
  columns.map((column) => `${column} ${OWN_COLUMNS.get(column)}`).join(', ');

const CREATE_SEQUENCES = `CREATE TABLE id_sequences (${SHARED_COLUMNS}, ${definitions([...OWN_COLUMNS.keys()])})`;

/** The pauses while others use the table, ms: about five seconds in all. */
const MAX_TRIES = 25;
const BACKOFF = { unit: 5, longest: 250 };

/**
 * Creates `id_sequences`, or adds the columns that an existing table lacks. The table is found by Oracle's own rules, through synonyms.
 * Marks the schema before a change.
 *
 * @throws StoreError with the statement to run, if the user lacks the right or others use the table all the time
 */
export async function setUpSequenceTable(session: OracleSession, mark: () => Promise<void>): Promise<void> {
  for (let tries = 1; ; tries++) {
    const missing = await missingColumns(session);
    if (missing?.length === 0) return;
    await mark();
    const sql =
      missing === undefined ? CREATE_SEQUENCES : `ALTER TABLE id_sequences ADD (${definitions(missing)})`;
    try {
      await session.ask(sql);
    } catch (error) {
      if (isFault(error, 'forbidden') || (isFault(error, 'busy') && tries >= MAX_TRIES))
        throw new StoreError(
          `sequences need a change of the table, and ${isFault(error, 'busy') ? 'transactions use it all the time' : 'this user may not make it'}. ` +
            `Let its owner run: ${sql}`,
          { cause: error },
        );
      if (!isFault(error, 'busy', 'done')) throw error;
      if (tries > 2 * MAX_TRIES) throw error;
      await pause(systemTimer, backoff(tries, BACKOFF), false);
    }
  }
}

/** The columns that the table lacks; `undefined` if there is no table. */
async function missingColumns({ ask }: OracleSession): Promise<string[] | undefined> {
  const has = async (columns: string) => {
    try {
      await ask(`SELECT ${columns} FROM id_sequences WHERE 1 = 0`);
      return true;
    } catch (error) {
      if (isFault(error, 'no column')) return false;
      throw error;
    }
  };
  try {
    const names = [...OWN_COLUMNS.keys()];
    if (await has(names.join(', '))) return [];
    const found = new Map<string, boolean>();
    for (const name of names) found.set(name, await has(name));
    return names.filter((name) => !found.get(name));
  } catch (error) {
    if (isFault(error, 'no table')) return undefined;
    throw error;
  }
}

const READ_SCHEMA = `SELECT ''||version AS version, ''||least_reader AS least_reader FROM idsmith_schema`;

// The key lets the table have one row at most.
const CREATE_SCHEMA = `CREATE TABLE idsmith_schema (
    id NUMBER(1) NOT NULL PRIMARY KEY,
    version NUMBER(10) NOT NULL,
    least_reader NUMBER(10) NOT NULL
  )`;
const INSERT_SCHEMA = 'INSERT INTO idsmith_schema (id, version, least_reader) VALUES (1, :1, :2)';

/** The marker in Oracle: the one row of `idsmith_schema`. */
export function oracleMarker({ ask, transact }: OracleSession): SchemaMarker {
  return {
    async read() {
      try {
        const [row] = (await ask(READ_SCHEMA)).rows;
        if (row === undefined) return undefined;
        const [version, leastReader] = Object.values(row as object).map(plainText);
        return schemaOf(version, leastReader);
      } catch (error) {
        if (isFault(error, 'no table')) return undefined;
        throw error;
      }
    },
    async write({ version, leastReader }) {
      await ask(CREATE_SCHEMA).catch((error) => {
        if (!isFault(error, 'done')) throw error;
      });
      await transact((send) => send(INSERT_SCHEMA, [String(version), String(leastReader)]));
    },
    isForbidden: (error) => isFault(error, 'forbidden'),
  };
}
