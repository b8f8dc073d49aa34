import type { SqlExecutor } from '../drivers/port.js';
import { InvalidOptionError, StoreError } from '../errors.js';
import { show } from '../options.js';
import { LockedRows } from '../stores/sql/locked-rows.js';
import { counterName, formatDigest, markerName, type SeriesPlan } from './counters.js';
import { type CalendarDate, periodText, type SeriesFormat } from './format.js';

/** A number that was taken, with the date and the time on the database's clock. */
export interface TakenNumber {
  readonly number: bigint;
  readonly date: CalendarDate;
  readonly counter: string;
  readonly at: number;
}

/** The most turns of a period while a lock is waited for. */
const MOST_TURNS = 5;

/**
 * Takes the next number inside the transaction of the executor. The clock is read after the counter is locked, so that numbers are in
 * the order of time, also when the wait for the lock was longer than the rest of the period.
 *
 * @throws SequenceExhaustedError when the number does not fit the format; nothing is taken
 * @throws InvalidOptionError when the series has another format in this database
 * @throws StoreError when the database fails; roll back then
 */
export async function takeLocked(
  sql: SqlExecutor,
  plan: SeriesPlan,
  tenant: string | undefined,
): Promise<TakenNumber> {
  const { name, format, calendar, start } = plan;
  const rows = await LockedRows.open(sql, 'series');
  let at = await rows.now();
  for (let turns = 0; turns < MOST_TURNS; turns++) {
    const period = periodText(format.period, calendar(at));
    const counter = await counterName(name, tenant, period);
    const row = await rows.lockOrMake(counter, start, format.highest);
    at = await rows.now();
    const date = calendar(at);
    if (periodText(format.period, date) !== period) continue;
    await requireFormat(rows, plan).catch(async (error) => {
      await rows.unmake(row);
      throw error;
    });
    // Printed before the row is written, so that a number that cannot be printed is not taken.
    const check = (next: bigint) => void format.print({ number: next, date, tenant });
    const number = await rows.take(row, format.highest, check).catch((error) => {
      throw format.failure(error);
    });
    return { number, date, counter, at };
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
