import type { SqlExecutor } from '../drivers/port.js';
import { sqlExecutor } from '../drivers/recognise.js';
import { InvalidOptionError } from '../errors.js';
import { type Complete, refuse, requireChoice, requireKnown, show } from '../options.js';
import { type Prefetch, prefetchPolicy } from '../sequence/prefetch.js';
import { Sequences } from '../sequence/sequences.js';
import { databaseNow, inCallersTransaction, LockedRows, withCallersRows } from '../stores/sql/locked-rows.js';
import type { SqlAccess, Store } from '../stores/store.js';
import { requireSignal } from '../support/abort.js';
import { OneSuccess } from '../support/single-flight.js';
import { AuditLog, type GivenNumber } from './audit-log.js';
import { BlockNumbers, type SeriesStore, seriesClosed } from './block-number.js';
import {
  counterName,
  ensureMarker,
  formatDigest,
  markerOf,
  otherSeries,
  requireSeriesName,
  requireTenant,
  type SeriesPlan,
} from './counters.js';
import {
  calendarOf,
  isPeriodText,
  type ParsedNumber,
  PERIODS,
  type Period,
  periodText,
  SeriesFormat,
} from './format.js';
import { TransactionNumbers } from './gapless-number.js';
import { LoggedNumbers } from './logged-number.js';

/** Options of a series. */
export interface SeriesOptions {
  /**
   * The printed form: text with `{n:6}` (the number, six digits), `{n:6+}` (six digits or more), `{n}`, `{yyyy}`, `{yy}`, `{q}`,
   * `{mm}`, `{dd}` and `{tenant}`, each at most once.
   */
  readonly format: string;
  /** The time after which numbers begin again. Default `'none'`: never. */
  readonly period?: Period | undefined;
  /** The time zone whose calendar decides about the period, such as `Europe/Berlin`. Default `UTC`. */
  readonly timeZone?: string | undefined;
  /** The first number of every period, from 0. Default 1. */
  readonly start?: bigint | number | undefined;
  /** Keeps a log of every number, in the same transaction, for `list` and `void`. Default `false`. */
  readonly audit?: boolean | undefined;
  /**
   * True if every call needs a tenant, false if no call may have one. Default `undefined`: the first number decides, and the store remembers it.
   * `true` where the format has `{tenant}`.
   */
  readonly tenants?: boolean | undefined;
  /** True if every call of `next` needs `in`, so that no number is skipped. Default `false`. */
  readonly transactional?: boolean | undefined;
  /** The numbers that a process fetches ahead where no transaction is given, as for `Sequences.get`. Default `'adaptive'`. */
  readonly prefetch?: Prefetch | undefined;
}

/** Options of `Series.next`. */
export interface NextOptions {
  /** Each tenant has numbers of its own. Needed where the format has `{tenant}`. */
  readonly tenant?: string | undefined;
  /** The caller's open transaction, of a driver or an ORM. The number is part of it: a rollback gives the number back. */
  readonly in?: object | undefined;
  /** Ends the wait. The promise then rejects with the reason of the signal. Not together with `in`. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * The arguments of `Series.next`, by the options of the series: `tenants: true` demands `tenant`, `tenants: false` refuses it, and
 * `transactional: true` demands `in`.
 */
export type NextArguments<O> =
  NeededOptions<O> extends infer Needed
    ? Record<never, never> extends Needed
      ? [options?: NextOptions & Needed]
      : [options: NextOptions & Needed]
    : never;

type NeededOptions<O> = (O extends { readonly tenants: true }
  ? { readonly tenant: string }
  : O extends { readonly tenants: false }
    ? { readonly tenant?: undefined }
    : unknown) &
  (O extends { readonly transactional: true } ? { readonly in: object } : unknown);

/** Options of `Series.void`. */
export interface VoidOptions {
  /** The tenant, where the format does not print it. */
  readonly tenant?: string | undefined;
  /** The caller's open transaction. Default a transaction of its own. */
  readonly in?: object | undefined;
}

/** Options of `Series.list`. */
export interface ListOptions extends VoidOptions {
  /** The period, such as `2026` or `2026-07`. Default the present one. */
  readonly period?: string | undefined;
}

/**
 * Numbers for people, such as invoice numbers: `INV-2026-000001`. Get one with `series` of `idsmith/sql`, or with `Ids.series` of
 * `idsmith/connect`.
 */
export class Series<O = unknown> {
  readonly name: string;
  readonly #plan: CheckedSeries;
  readonly #from: SeriesStore | undefined;
  readonly #blocks: BlockNumbers | undefined;
  readonly #numbers: TransactionNumbers;
  readonly #preparing = new OneSuccess<void>();
  /** Whether there are tenants, once the store remembers it. */
  #remembered: boolean | undefined;
  #logged: LoggedNumbers | undefined;
  #closing: Promise<void> | undefined;

  /** @internal */
  constructor(plan: CheckedSeries, from: SeriesStore | undefined) {
    this.name = plan.name;
    this.#plan = plan;
    this.#from = from;
    this.#numbers = new TransactionNumbers(plan);
    this.#blocks = from && new BlockNumbers(plan, from, plan.options.prefetch);
  }

  /**
   * The next number, printed. With `in`, the number is part of the caller's transaction, and no number is skipped. Without `in`, the
   * number comes from a block of the store's sequence: fast, and numbers may be skipped.
   *
   * The period is that of the database's clock, at a moment between the call and its answer.
   *
   * @throws InvalidOptionError when an option is wrong, no transaction is open, or the store keeps another format for the series
   * @throws SequenceExhaustedError when the number does not fit its width; nothing is given out
   * @throws StoreError when the database fails; roll back then
   * @throws ClosedError after `close()`
   */
  async next(...[options = {}]: NextArguments<O>): Promise<string> {
    this.#requireOpen();
    requireKnown('options', options, ['tenant', 'in', 'signal']);
    const tenant = requireTenant(options.tenant, this.#plan);
    const signal = requireSignal(options.signal);
    signal?.throwIfAborted();
    if ('in' in options && options.in !== undefined) {
      if (signal !== undefined)
        throw new InvalidOptionError('signal and in: end the transaction instead, or leave one of them out');
      return withCallersRows(options.in, 'series', (rows, sql) => this.#take(rows, sql, tenant));
    }
    if ('in' in options) refuse('in', 'an open transaction', options.in);
    if (this.#plan.transactional)
      throw new InvalidOptionError(
        `series ${show(this.name)} is transactional, and a number outside of a transaction could be skipped: give the open transaction, as in next({ in: transaction })`,
      );
    await this.ready();
    await this.#remember(tenant !== undefined);
    return this.#plan.audit ? this.#nextLogged(tenant) : this.#nextOfBlock(tenant, signal);
  }

  /**
   * Reads a printed number. The opposite of `next`.
   *
   * @throws InvalidIdError when the series cannot have given out the text
   */
  parse(text: string): ParsedNumber {
    return this.#plan.format.parse(text);
  }

  /**
   * The numbers of a period that were given out, in ascending order, with `audit: true`.
   *
   * @throws InvalidOptionError when the series has no audit, or an option is wrong
   */
  async list(options: ListOptions = {}): Promise<GivenNumber[]> {
    this.#requireOpen();
    requireKnown('options', options, ['period', 'tenant', 'in']);
    this.#requireAudit('list()');
    const tenant = requireTenant(options.tenant, this.#plan);
    const { period } = this.#plan.format;
    if (options.period !== undefined && !isPeriodText(period, options.period))
      refuse('period', `the text of a ${period}, as parse() gives it`, options.period);
    const read = async (sql: SqlExecutor) => {
      const text =
        options.period ?? periodText(period, this.#plan.calendar(await databaseNow(sql, 'series')));
      return new AuditLog(sql).list(await counterName(this.name, tenant, text));
    };
    if (options.in !== undefined) return read(sqlExecutor(options.in));
    await this.ready();
    return read(this.#access('list()').outside);
  }

  /**
   * Notes in the log that a number is void, for example because its invoice was cancelled. The number is never given out again.
   *
   * @throws InvalidIdError when the number was not given out
   * @throws InvalidOptionError when the number is void already, the series has no audit, or an option is wrong
   */
  async void(text: string, reason: string, options: VoidOptions = {}): Promise<void> {
    this.#requireOpen();
    requireKnown('options', options, ['tenant', 'in']);
    this.#requireAudit('void()');
    if (typeof reason !== 'string' || reason.trim() === '') refuse('reason', 'text that says why', reason);
    const parsed = this.parse(text);
    if (parsed.tenant !== undefined && options.tenant !== undefined && options.tenant !== parsed.tenant)
      refuse('tenant', `left out, or ${show(parsed.tenant)} as in ${show(text)}`, options.tenant);
    const tenant = parsed.tenant ?? requireTenant(options.tenant, this.#plan);
    const counter = await counterName(this.name, tenant, parsed.period);
    const write = (sql: SqlExecutor) =>
      new AuditLog(sql).void(counter, { number: parsed.number, text, reason });
    if (options.in !== undefined) return inCallersTransaction(options.in, 'series', write);
    await this.ready();
    return this.#access('void()').transact(write);
  }

  /**
   * Makes what the series needs in its store: called by `Ids.series`, and by the first call that needs it.
   *
   * @throws InvalidOptionError when the store keeps another format for the series, or cannot keep a log
   */
  ready(): Promise<void> {
    return this.#preparing.run(() => this.#prepare());
  }

  /** True after `close()`. */
  get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  /** Gives numbers at hand back, where no other process has taken later ones. A second call does nothing. The store stays open. */
  close(): Promise<void> {
    this.#closing ??= this.#blocks?.close() ?? Promise.resolve();
    return this.#closing;
  }

  /** The same as {@link close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #prepare(): Promise<void> {
    const { name, format, audit, tenants } = this.#plan;
    if (this.#from === undefined)
      throw new InvalidOptionError(
        `series ${show(name)} has no store: give a transaction, as in next({ in: transaction }), or make the series with a store`,
      );
    if (audit) this.#access('audit: true');
    if (tenants !== undefined) await this.#remember(tenants);
    else {
      // The first number decides whether there are tenants.
      const kept = await markerOf(this.#from.sequences, name);
      if (kept !== undefined && ![true, false].some((each) => kept === formatDigest(format, each)))
        throw otherSeries(this.#plan, kept, false);
    }
    if (audit) await new AuditLog(this.#access('audit: true').outside).setUp();
  }

  /** Makes the store remember the format and whether there are tenants, unless it does already. */
  async #remember(hasTenants: boolean): Promise<void> {
    if (this.#remembered === hasTenants) return;
    const digest = formatDigest(this.#plan.format, hasTenants);
    const kept = await ensureMarker((this.#from as SeriesStore).sequences, this.name, digest);
    if (kept !== digest) throw otherSeries(this.#plan, kept, hasTenants);
    this.#remembered = hasTenants;
  }

  /** Takes and logs a number in a transaction of its own. */
  #nextLogged(tenant: string | undefined): Promise<string> {
    const access = this.#access('next()');
    const from = this.#from as SeriesStore;
    // A store of a user's own may not be able to tell whether it has gone back.
    if (from.store.trust === undefined)
      return access.transact(async (sql) => this.#take(await LockedRows.ofStore(sql, 'series'), sql, tenant));
    this.#logged ??= new LoggedNumbers(this.#plan, from, access);
    return this.#logged.next(tenant);
  }

  /** Takes a number from a block. */
  async #nextOfBlock(tenant: string | undefined, signal: AbortSignal | undefined): Promise<string> {
    const { number, date } = await (this.#blocks as BlockNumbers).next(tenant, signal);
    return this.#plan.format.print({ number, date, tenant });
  }

  /** Takes a number in a transaction, and logs it there. */
  async #take(rows: LockedRows, sql: SqlExecutor, tenant: string | undefined): Promise<string> {
    const { number, date, counter, at } = await this.#numbers.take(rows, tenant);
    const text = this.#plan.format.print({ number, date, tenant });
    if (this.#plan.audit) await new AuditLog(sql).add({ counter, number, text, at });
    return text;
  }

  #access(what: string): SqlAccess {
    const access = this.#from?.store.sql;
    if (access !== undefined) return access;
    throw new InvalidOptionError(
      `${what} of series ${show(this.name)} with a log needs transactions, which this store does not give: use a store in ` +
        'PostgreSQL, MySQL or SQLite, on a pool where there are pools, or give your own transaction with in',
    );
  }

  #requireAudit(what: string): void {
    if (!this.#plan.audit)
      throw new InvalidOptionError(
        `${what} needs a log: make the series ${show(this.name)} with audit: true`,
      );
  }

  #requireOpen(): void {
    if (this.#closing) throw seriesClosed(this.name);
  }
}

const SERIES_NAMES = [
  'format',
  'period',
  'timeZone',
  'start',
  'audit',
  'tenants',
  'transactional',
  'prefetch',
];

/** A series as its options say, checked. */
export interface CheckedSeries extends SeriesPlan {
  readonly audit: boolean;
  readonly transactional: boolean;
  /** All options, with the defaults of those that were left out. Two series are the same if these are equal. */
  readonly options: Complete<Omit<SeriesOptions, 'tenants'>> & Pick<SeriesOptions, 'tenants'>;
}

/**
 * @param more names of options that are not of the series itself
 * @throws InvalidOptionError naming the option that is wrong or unknown
 */
export function checkSeries(
  name: string,
  options: SeriesOptions,
  more: readonly string[] = [],
): CheckedSeries {
  requireKnown('options', options, [...SERIES_NAMES, ...more]);
  requireSeriesName(name);
  const { prefetch = 'adaptive', timeZone = 'UTC' } = options;
  const period = requireChoice('period', options.period, PERIODS);
  const format = new SeriesFormat(options.format, period);
  const audit = requireChoice('audit', options.audit, [false, true]);
  const transactional = requireChoice('transactional', options.transactional, [false, true]);
  const start = requireStart(options.start, format);
  const tenants = requireTenants(options.tenants, format);
  prefetchPolicy(prefetch);
  return {
    name,
    format,
    calendar: calendarOf(timeZone),
    start,
    audit,
    tenants,
    transactional,
    options: { format: format.text, period, timeZone, start, audit, tenants, transactional, prefetch },
  };
}

function requireTenants(tenants: unknown, { hasTenant, text }: SeriesFormat): boolean | undefined {
  if (tenants !== undefined && typeof tenants !== 'boolean') refuse('tenants', 'true or false', tenants);
  if (hasTenant && tenants === false)
    refuse('tenants', `true or left out, because format ${JSON.stringify(text)} prints the tenant`, tenants);
  return hasTenant ? true : tenants;
}

function requireStart(start: bigint | number = 1, { highest, text }: SeriesFormat): bigint {
  const isWhole = typeof start === 'bigint' || Number.isSafeInteger(start);
  if (isWhole && start >= 0 && start <= highest) return BigInt(start);
  refuse(
    'start',
    `a whole number from 0 to ${highest}, which format ${JSON.stringify(text)} can print`,
    start,
  );
}

/** Options of {@link series}. */
export interface StandaloneSeriesOptions extends SeriesOptions {
  /** The store for numbers outside of the caller's transactions. Without a store, every call needs `in`. */
  readonly store?: Store | undefined;
}

/**
 * A series of numbers for people.
 *
 * @throws InvalidOptionError naming the option that is wrong
 *
 * @example
 * const invoices = series('invoices', { format: 'INV-{yyyy}-{n:6}', period: 'year', timeZone: 'Europe/Berlin' });
 * await client.query('BEGIN');
 * const number = await invoices.next({ in: client }); // 'INV-2026-000001'
 * await client.query('COMMIT');
 */
export function series<const O extends StandaloneSeriesOptions>(name: string, options: O): Series<O> {
  const plan = checkSeries(name, options, ['store']);
  const { store } = options;
  if (store !== undefined && typeof store?.allocate !== 'function') refuse('store', 'a store', store);
  return new Series(plan, store && { store, sequences: new Sequences(store) });
}
