import type { SqlExecutor } from '../drivers/port.js';
import { StoreError } from '../errors.js';
import { show } from '../options.js';
import { endOf, withOrigin } from '../sequence/block.js';
import type { SequenceRow } from '../sequence/blocks.js';
import type { Block, TrustedState } from '../sequence/port.js';
import type { SqlAccess } from '../stores/store.js';
import { AuditLog } from './audit-log.js';
import type { SeriesStore } from './block-number.js';
import { ensureCounter, type SeriesPlan } from './counters.js';
import { TransactionNumbers, type UnknownCounter } from './gapless-number.js';

/** The most counters whose states are kept. */
const MOST_KNOWN = 1000;

/** The most times that a counter turns out to have changed before a caller gives up. */
const MOST_TRIES = 20;

interface LoggedNumber {
  readonly text: string;
  readonly counter: string;
  /** The row of its counter before. */
  readonly row: SequenceRow;
  readonly block: Block;
}

/** A number that this process has got before. It is an error of the store, so that the transaction is rolled back. */
class RepeatedNumber extends StoreError {
  readonly counter: string;
  readonly block: Block;
  readonly end: bigint;

  constructor(counter: string, block: Block, end: bigint) {
    super(`counter ${show(counter)} gave ${block.first} again`);
    this.counter = counter;
    this.block = block;
    this.end = end;
  }
}

/**
 * The numbers of a series with a log, in transactions of the store's own. The caller keeps a number whatever the store forgets, so each one is
 * judged as those of `allocate` are: a counter is used in the lineage in which it was found whole, and no number comes twice to this process.
 * Nothing more is sent for that as long as the store stays as it is.
 */
export class LoggedNumbers {
  readonly #plan: SeriesPlan;
  readonly #from: SeriesStore;
  readonly #access: SqlAccess;
  readonly #numbers: TransactionNumbers;
  /** The states of counters. */
  readonly #states = new Map<string, TrustedState>();

  constructor(plan: SeriesPlan, from: SeriesStore, access: SqlAccess) {
    this.#plan = plan;
    this.#from = from;
    this.#access = access;
    this.#numbers = new TransactionNumbers(plan);
  }

  /**
   * Takes a number, logs it, and gives it printed.
   *
   * @throws StoreWentBackError when the store has lost writes that this process has seen; nothing is given out
   * @throws as `takeTrusted` does
   */
  async next(tenant: string | undefined): Promise<string> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const taken = await this.#access
        .transact((sql) => this.#take(sql, tenant))
        .catch((error) => this.#fail(error));
      if ('unknown' in taken) {
        await this.#learn(taken);
        continue;
      }
      const { text, counter, row, block } = taken;
      this.#from.store.witness?.remember(counter, block);
      this.#from.store.noteTaken?.(row, endOf(block));
      return text;
    }
    throw new StoreError(`the counters of series ${show(this.#plan.name)} keep changing: try again later`, {
      reason: 'CONFLICT',
    });
  }

  async #take(sql: SqlExecutor, tenant: string | undefined): Promise<LoggedNumber | UnknownCounter> {
    const stateOf = (counter: string) => this.#states.get(counter);
    const taken = await this.#numbers.takeTrusted(sql, tenant, { lineage: this.#access.lineage, stateOf });
    if ('unknown' in taken) return taken;
    const { number, date, counter, at, row } = taken;
    const block = withOrigin({ first: number, step: row.step, count: 1 }, row.generation);
    const end = this.#from.store.witness?.seen(counter, number, row.step);
    if (end !== undefined) throw new RepeatedNumber(counter, block, end);
    const text = this.#plan.format.print({ number, date, tenant });
    await new AuditLog(sql).add({ counter, number, text, at });
    return { text, counter, row, block };
  }

  async #fail(error: unknown): Promise<never> {
    if (!(error instanceof RepeatedNumber)) throw error;
    throw (await this.#from.store.witness?.moveOn(error.counter, error.block, error.end)) ?? error;
  }

  /** Finds out in which state a counter may be used, and makes it if it is missing. */
  async #learn({ unknown, period }: UnknownCounter): Promise<void> {
    const { store, sequences } = this.#from;
    const { start, format } = this.#plan;
    await ensureCounter(sequences, unknown, { start, period, format });
    const state = await store.trust?.(unknown);
    if (this.#states.size >= MOST_KNOWN) this.#states.clear();
    if (state) this.#states.set(unknown, state);
  }
}
