import type { SqlExecutor } from '../drivers/port.js';
import { InvalidOptionError, StoreError } from '../errors.js';
import { show } from '../options.js';
import type { SequenceRow } from '../sequence/blocks.js';
import type { TrustedState } from '../sequence/port.js';
import { SqlLineage } from '../stores/sql/lineage.js';
import { LockedRows } from '../stores/sql/locked-rows.js';
import { counterName, formatDigest, isOutgrown, markerName, type SeriesPlan } from './counters.js';
import { type CalendarDate, periodText, type SeriesFormat } from './format.js';

/** A number that was taken, with the date and the time on the database's clock. */
export interface TakenNumber {
  readonly number: bigint;
  readonly date: CalendarDate;
  readonly counter: string;
  readonly at: number;
  /** The row of the counter before. */
  readonly row: SequenceRow;
}

/** A counter that may not be used yet: nothing was taken. */
export interface UnknownCounter {
  readonly unknown: string;
  readonly period: string;
}

/** A transaction of the store's own. Its numbers go to a caller whose rows stay when the store goes back, so they may not come again. */
export interface OwnTransaction {
  /** The lineage of the database as an SQL expression; `undefined` if it is unknown. */
  readonly lineage: string | undefined;
  /** What the row of a counter must have; `undefined` if that is not known. */
  stateOf(counter: string): TrustedState | undefined;
}

/** The most turns of a period while a lock is waited for. */
const MOST_TURNS = 5;

/**
 * Takes the next number inside the caller's transaction. A counter that is missing is made there.
 *
 * @throws as {@link take} does
 */
export async function takeLocked(
  sql: SqlExecutor,
  plan: SeriesPlan,
  tenant: string | undefined,
): Promise<TakenNumber> {
  const rows = await LockedRows.open(sql, 'series');
  const lock = (counter: string) => rows.lockOrMake(counter, plan.start, plan.format.highest);
  return (await take(rows, plan, tenant, lock)) as TakenNumber;
}

/**
 * Takes the next number inside a transaction of the store's own, if the state of its counter is known.
 *
 * @throws as {@link take} does
 */
export async function takeTrusted(
  sql: SqlExecutor,
  plan: SeriesPlan,
  tenant: string | undefined,
  { lineage, stateOf }: OwnTransaction,
): Promise<TakenNumber | UnknownCounter> {
  const rows = await LockedRows.open(sql, 'series', new SqlLineage(() => lineage));
  return take(rows, plan, tenant, async (counter) => {
    const state = stateOf(counter);
    const row = state && (await rows.lock(counter));
    return row?.lineage === state?.lineage && row?.generation === state?.generation ? row : undefined;
  });
}

/**
 * Takes the next number of locked rows. The clock is read after the counter is locked, so that numbers are in the order of time, also when
 * the wait for the lock was longer than the rest of the period.
 *
 * @param lock gives the row of a counter, locked; `undefined` if nothing may be taken from it
 * @throws SequenceExhaustedError when the number does not fit the format; nothing is taken
 * @throws InvalidOptionError when the series has another format in this database
 * @throws StoreError when the database fails; roll back then
 */
async function take(
  rows: LockedRows,
  plan: SeriesPlan,
  tenant: string | undefined,
  lock: (counter: string) => Promise<SequenceRow | undefined>,
): Promise<TakenNumber | UnknownCounter> {
  const { name, format, calendar } = plan;
  let at = await rows.now();
  for (let turns = 0; turns < MOST_TURNS; turns++) {
    const period = periodText(format.period, calendar(at));
    const counter = await counterName(name, tenant, period);
    const row = await lock(counter);
    if (row === undefined) return { unknown: counter, period };
    at = await rows.now();
    const date = calendar(at);
    if (periodText(format.period, date) !== period) continue;
    await requireFormat(rows, plan).catch(async (error) => {
      await rows.unmake(row);
      throw error;
    });
    // Printed before the row is written, so that a number that cannot be printed is not taken.
    const check = (next: bigint) => void format.print({ number: next, date, tenant });
    const highest = isOutgrown(row, format) ? format.highest : row.max;
    const number = await rows.take(row, highest, check).catch((error) => {
      throw format.failure(error, row);
    });
    return { number, date, counter, at, row };
  }
  throw new StoreError(
    `series ${show(name)}: the database's clock jumps from period to period: roll back and try again`,
    { reason: 'CONFLICT' },
  );
}

/** Checks that the database remembers this format for the series, or makes it remember the format. */
async function requireFormat(rows: LockedRows, { name, format }: SeriesPlan): Promise<void> {
  const digest = formatDigest(format);
  const { start } = await rows.readOrMake(markerName(name), digest);
  if (start !== digest) throw otherFormat(name, format);
}

export function otherFormat(name: string, format: SeriesFormat): InvalidOptionError {
  return new InvalidOptionError(
    `series ${show(name)} has another format or period in this database than ${show(format.text)} with period ` +
      `${show(format.period)}, and numbers could repeat: use the one it began with, which may get a + after its width, or another name`,
  );
}
