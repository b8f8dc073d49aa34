import { InvalidOptionError, StoreError } from '../errors.js';
import type { SqlExecutor } from '../executor/port.js';
import { show } from '../options.js';
import { takeBlocks } from '../sequence/blocks.js';
import type { SeriesFormat } from './format.js';
import { type LockedCounters, lockedCounters } from './locked-counters.js';
import { counterName, formatDigest, markerName } from './names.js';
import { type Calendar, type CalendarDate, periodText } from './period.js';

/** The parts of a series that decide about a number. */
export interface SeriesPlan {
  readonly name: string;
  readonly format: SeriesFormat;
  readonly calendar: Calendar;
  readonly start: bigint;
}

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
  const counters = await lockedCounters(sql);
  await requireFormat(counters, plan);
  let at = await counters.now();
  for (let turns = 0; turns < MOST_TURNS; turns++) {
    const date = plan.calendar(at);
    const period = periodText(plan.format.period, date);
    const counter = counterName(plan.name, tenant, period);
    const row = await counters.lock(counter, plan.start);
    at = await counters.now();
    const dateNow = plan.calendar(at);
    if (periodText(plan.format.period, dateNow) !== period) continue;
    const taken = takeBlocks({ ...row, blockSize: 1 }, 1);
    const number = taken.block.first;
    // Before the row is written, so that a number that cannot be printed is not taken.
    plan.format.print({ number, date: dateNow, tenant });
    await counters.write({ ...taken.row, blockSize: row.blockSize });
    return { number, date: dateNow, counter, at };
  }
  throw new StoreError(
    `series ${show(plan.name)}: the database's clock jumps from period to period: roll back and try again`,
  );
}

/** Checks that the database remembers this format for the series, or makes it remember the format. */
async function requireFormat(counters: LockedCounters, { name, format }: SeriesPlan): Promise<void> {
  const digest = formatDigest(format);
  const { start } = await counters.remember(markerName(name), digest);
  if (start !== digest) throw otherFormat(name, format);
}

export function otherFormat(name: string, format: SeriesFormat): InvalidOptionError {
  return new InvalidOptionError(
    `series ${show(name)} has another format or period in this database than ${show(format.text)} with period ` +
      `${show(format.period)}, and numbers could repeat: use the one it began with, which may get a + after its width, or another name`,
  );
}
