import type { SqlDialect, SqlExecutor } from '../../drivers/port.js';
import { InvalidOptionError, NoSuchSequenceError, SequenceExistsError, StoreError } from '../../errors.js';
import { show } from '../../options.js';
import { supplyOf } from '../../sequence/blocks.js';
import type { SequenceInfo, SequenceOptions } from '../../sequence/port.js';
import type { Sequences } from '../../sequence/sequences.js';
import { rangeOfType } from '../../stores/sql/columns.js';
import { isMissingTable } from '../../stores/sql/session.js';
import type { SqlAccess } from '../../stores/store.js';
import { retry } from '../../support/retry.js';
import {
  type ColumnName,
  type ForeignDialect,
  type ForeignGenerator,
  type ForeignIds,
  fieldsOf,
  whole,
} from './foreign-ids.js';
import { mysqlIds } from './mysql-ids.js';
import { postgresIds } from './postgres-ids.js';
import { sqliteIds } from './sqlite-ids.js';

const FOREIGN: Record<SqlDialect, ForeignDialect> = {
  postgres: postgresIds,
  mysql: mysqlIds,
  sqlite: sqliteIds,
};

/** The ids of a table, and what an adoption does about them. */
export interface AdoptionPlan {
  readonly ids: ForeignIds;
  /** The highest id in the table; 0 if there is none. */
  readonly highest: bigint;
  /** The first id that nothing else can give out. */
  readonly next: bigint;
  /** The highest id that the column can hold. */
  readonly max: bigint;
  /** The sequence as it is; `undefined` if it is missing. */
  readonly sequence: SequenceInfo | undefined;
  /** Generators that could give the ids of the sequence, too. */
  readonly rivals: readonly ForeignGenerator[];
}

/** The most looks at a table that others use all the time, and the pauses between them, ms. About ten seconds in all. */
const MAX_TRIES = 40;
const PAUSES = { unit: 10, longest: 300 };

/**
 * Looks at a table and at a sequence, and changes nothing.
 *
 * @param givesIds true if the user says that every program gives its ids to the column itself
 * @throws InvalidOptionError when the table, the column or the native sequence is not there, or the ids are no whole numbers
 */
export async function planAdoption(
  sql: SqlExecutor,
  sequences: Sequences,
  name: string,
  column: ColumnName,
  givesIds: boolean,
): Promise<AdoptionPlan> {
  const ids = await FOREIGN[sql.dialect].look(sql, column);
  const range = rangeOfType(ids.type);
  if (range === 'inexact')
    throw new InvalidOptionError(
      `the column ${ids.table}.${ids.column} is ${ids.type}: adopt is for whole numbers`,
    );
  const max = range === undefined || range.high > MAX_ID ? MAX_ID : range.high;
  const highest = await highestOf(sql, ids);
  const ends = ids.generators.map(({ reached, end }) => end ?? reached);
  const next = [highest, ...ends].reduce((a, b) => (a > b ? a : b)) + 1n;
  const sequence = await sequenceOf(sql, sequences, name);
  if (sequence !== undefined && (sequence.step < 0 || sequence.cycle))
    throw new InvalidOptionError(
      `sequence ${show(name)} ${sequence.cycle ? 'repeats its ids' : 'descends'}: adopt is for ids that ascend and never repeat`,
    );
  const rivals = ids.generators.filter(({ isActive, end }) => isActive && end === undefined && !givesIds);
  return { ids, highest, next, max, sequence, rivals };
}

const MAX_ID = 2n ** 63n - 1n;

/** The sequence, if it is there. A store makes its table at the first use, and here nothing may be changed. */
async function sequenceOf(
  sql: SqlExecutor,
  sequences: Sequences,
  name: string,
): Promise<SequenceInfo | undefined> {
  try {
    await sql.query('SELECT name FROM id_sequences WHERE 1 = 0');
    return await sequences.describe(name);
  } catch (error) {
    if (error instanceof NoSuchSequenceError || isMissingTable(error)) return undefined;
    throw error;
  }
}

/**
 * Raises the sequence past every id of the table, while others write. Then checks once more at a moment in which nobody writes, and begins
 * again if an id was higher.
 *
 * @throws StoreError when the table is in use all the time, or ids grow faster than they can be passed
 */
export async function adopt(
  access: SqlAccess,
  sequences: Sequences,
  name: string,
  plan: AdoptionPlan,
  { define, signal }: { define: SequenceOptions; signal: AbortSignal },
): Promise<SequenceInfo> {
  let { next } = plan;
  for (let rounds = 0; rounds < MAX_TRIES; rounds++) {
    signal.throwIfAborted();
    await raise(sequences, name, next, { ...define, max: plan.max });
    const highest = await whileNobodyWrites(access, plan.ids, signal);
    // After the look, so that ids of the sequence itself, which are below its next one, do not count as others.
    const info = await sequences.describe(name);
    if (highest < info.next) return info;
    next = highest + 1n;
  }
  throw new StoreError(
    `ids of ${plan.ids.table} grow faster than the sequence ${show(name)} can pass them: find the program that writes them`,
  );
}

function hasTooFew(info: SequenceInfo): boolean {
  const { stranded = 0n } = supplyOf(info) ?? {};
  return stranded > 0n && stranded < info.blockSize;
}

/** Defines the sequence, or moves it forward. Leaves one that is further on as it is. */
async function raise(
  sequences: Sequences,
  name: string,
  next: bigint,
  define: SequenceOptions,
): Promise<void> {
  try {
    const info = await sequences.describe(name);
    // A sequence that is further on stays where it is, even if too few ids are left for a block.
    if (info.next < next || (info.exhausted && !hasTooFew(info))) await sequences.alter(name, { next });
  } catch (error) {
    if (!(error instanceof NoSuchSequenceError)) throw error;
    try {
      // The start is beyond all numbers that are in use, whatever the store has lost.
      await sequences.define(name, { ...define, start: next, notBefore: Number.MAX_SAFE_INTEGER });
    } catch (failure) {
      // Another process has defined the sequence meanwhile.
      if (!(failure instanceof SequenceExistsError)) throw failure;
      await raise(sequences, name, next, define);
    }
  }
}

/** The highest id, at a moment in which no transaction that writes into the table is open. */
function whileNobodyWrites(access: SqlAccess, ids: ForeignIds, signal: AbortSignal): Promise<bigint> {
  const dialect = FOREIGN[access.outside.dialect];
  const look = () => access.transact((sql) => dialect.locked(sql, ids.table, () => highestOf(sql, ids)));
  return retry(look, {
    isTransient: dialect.isBusy,
    pauses: PAUSES,
    attempts: MAX_TRIES,
    signal,
    giveUp: (cause) =>
      new StoreError(
        `transactions write into ${ids.table} all the time, so the last check could not be made. The sequence is raised. ` +
          'Run the command again at a quieter time before you use it',
        { cause, reason: 'LOCKED' },
      ),
  });
}

async function highestOf(sql: SqlExecutor, { table, column }: ForeignIds): Promise<bigint> {
  const { text } = FOREIGN[sql.dialect];
  const [row] = await sql.query(`SELECT ${text(`MAX(${column})`)} AS highest FROM ${table}`);
  return whole(fieldsOf(row)[0]);
}
