import type { SqlExecutor } from '../drivers/port.js';
import { hasCode, type InvalidOptionError, StoreError } from '../errors.js';
import { show } from '../options.js';
import type { SequenceRow } from '../sequence/blocks.js';
import type { TrustedState } from '../sequence/port.js';
import { SqlLineage } from '../stores/sql/lineage.js';
import { LockedRows } from '../stores/sql/locked-rows.js';
import {
  counterName,
  formatDigest,
  isOutgrown,
  markerName,
  otherSeries,
  type SeriesPlan,
} from './counters.js';
import { type CalendarDate, periodText } from './format.js';

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

/** The numbers of a series inside transactions. */
export class TransactionNumbers {
  readonly #plan: SeriesPlan;
  /** How far the database's clock is ahead of this machine's, ms, by the last number. */
  #ahead: number | undefined;
  readonly #digests: { readonly alone: bigint; readonly tenants: bigint };

  constructor(plan: SeriesPlan) {
    this.#plan = plan;
    this.#digests = { alone: formatDigest(plan.format, false), tenants: formatDigest(plan.format, true) };
  }

  /**
   * Takes the next number inside a transaction. A counter that is missing is made there.
   *
   * @throws SequenceExhaustedError when the number does not fit the format; nothing is taken
   * @throws InvalidOptionError when no transaction is open, or the series has another format in this database
   * @throws StoreError when the database fails; roll back then
   */
  async take(rows: LockedRows, tenant: string | undefined): Promise<TakenNumber> {
    const { start, format } = this.#plan;
    const make = (counter: string) => rows.make({ name: counter, start, max: format.highest });
    const lock = (counter: string) => rows.lockIfThere(counter);
    return (await this.#take(rows, tenant, lock, make)) as TakenNumber;
  }

  /**
   * Takes the next number inside a transaction of the store's own, if the state of its counter is known.
   *
   * @throws as {@link take} does
   */
  async takeTrusted(
    sql: SqlExecutor,
    tenant: string | undefined,
    { lineage, stateOf }: OwnTransaction,
  ): Promise<TakenNumber | UnknownCounter> {
    const rows = await LockedRows.ofStore(sql, 'series', new SqlLineage(() => lineage));
    const lock = async (counter: string) => {
      const state = stateOf(counter);
      const row = state && (await rows.lock(counter));
      return row?.lineage === state?.lineage && row?.generation === state?.generation ? row : undefined;
    };
    return this.#take(rows, tenant, lock, async () => undefined);
  }

  /**
   * Takes the next number of a locked row. The counter is that of the period in which the database probably is. The clock is read once the
   * counter is locked, so that numbers are in the order of time. Where the period has turned by then, the number goes back into its
   * counter, and the counter of the new period is next.
   *
   * @param lock gives the row of a counter, locked; `undefined` if it is missing, or nothing may be taken from it
   * @param make makes the row that is missing; `undefined` if nothing may be taken from it
   */
  async #take(
    rows: LockedRows,
    tenant: string | undefined,
    lock: (counter: string) => Promise<SequenceRow | undefined>,
    make: (counter: string) => Promise<SequenceRow | undefined>,
  ): Promise<TakenNumber | UnknownCounter> {
    const { name, format, calendar } = this.#plan;
    const periodOf = (date: CalendarDate) => periodText(format.period, date);
    if (this.#ahead === undefined && format.period !== 'none') this.#learn(await rows.now());
    let at = Date.now() + (this.#ahead ?? 0);
    for (let turns = 0; turns < MOST_TURNS; turns++) {
      // A calendar is slow to read: once before the number, and once after.
      const expected = calendar(at);
      const period = periodOf(expected);
      const counter = await counterName(name, tenant, period);
      let row = await lock(counter);
      if (row === undefined) {
        // No counter is made for a period that has not begun.
        if (format.period !== 'none') at = this.#learn(await rows.now());
        if (periodOf(calendar(at)) !== period) continue;
        row = await make(counter);
        if (row === undefined) return { unknown: counter, period };
      }
      const taken = await this.#takeFrom(rows, row, { date: expected, tenant });
      at = this.#learn(taken.at);
      const date = calendar(at);
      const isInPeriod = periodOf(date) === period;
      const failure = isInPeriod ? await this.#otherSeries(rows, taken.start, tenant) : undefined;
      if (isInPeriod && failure === undefined)
        return { number: taken.number, date, counter, at, row: taken.before };
      await rows.giveBack(taken);
      if (failure) throw failure;
    }
    throw new StoreError(
      `series ${show(name)}: the database's clock jumps from period to period: roll back and try again`,
      { reason: 'CONFLICT' },
    );
  }

  /** Takes a number from a locked row, if it can be printed. */
  async #takeFrom(
    rows: LockedRows,
    row: SequenceRow,
    printed: { date: CalendarDate; tenant: string | undefined },
  ) {
    const { name, format } = this.#plan;
    const marker = markerName(name);
    const highest = isOutgrown(row, format) ? format.highest : row.max;
    const check = (number: bigint) => void format.print({ ...printed, number });
    try {
      return await rows.take(row, marker, highest, check);
    } catch (error) {
      // A counter at its end may be that of another format.
      const isOver = hasCode(error, 'SEQUENCE_EXHAUSTED');
      const other = isOver && (await this.#otherSeries(rows, await rows.startOf(marker), printed.tenant));
      throw other || format.failure(error, row);
    }
  }

  /**
   * The error if the database remembers something else for the series. It is made to remember the format, and whether there are tenants, if it
   * remembers nothing.
   */
  async #otherSeries(
    rows: LockedRows,
    kept: bigint | undefined,
    tenant: string | undefined,
  ): Promise<InvalidOptionError | undefined> {
    const { name } = this.#plan;
    const digest = this.#digests[tenant === undefined ? 'alone' : 'tenants'];
    const start = kept ?? (await rows.make({ name: markerName(name), start: digest })).start;
    return start === digest ? undefined : otherSeries(this.#plan, start, tenant !== undefined);
  }

  /** Notes the time on the database's clock. */
  #learn(at: number): number {
    this.#ahead = at - Date.now();
    return at;
  }
}
