import { warn } from '#runtime';
import { errorsIn } from '../../drivers/transaction.js';
import { judgeServer } from '../../lineage/judge.js';
import { wentBack } from '../../lineage/went-back.js';
import { OneSuccess } from '../../support/single-flight.js';
import { reasonOf } from '../../support/store-error.js';
import { type LineageComparison, type LineageOrder, SqlLineage } from '../sql/lineage.js';
import type { Ask } from '../sql/session.js';

// The lineage of a table in PostgreSQL has three parts. The timeline changes when a standby is promoted, and at once: the checkpoint tells the
// old one for a while. The oid changes when a dump is restored. The system identifier changes with another cluster of databases.

/** A standby has no timeline of its own. What it tells must differ from what it tells after its promotion. */
const TIMELINE = `CASE WHEN pg_is_in_recovery() THEN 'standby' ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END`;

/**
 * The system identifier of the server that runs the statement. A process may be led to another cluster of databases while it runs, and must see
 * what everybody else sees. The function reads a file, which would make each statement a third slower, and a session never leaves its
 * server: so the session keeps the answer.
 */
const SYSTEM = `(SELECT CASE WHEN current_setting('idsmith.system', true) <> '' THEN current_setting('idsmith.system', true)
  ELSE set_config('idsmith.system', (SELECT CAST(system_identifier AS text) FROM pg_control_system()), false) END)`;

const JOINED = " || ' ' || ";

/** Standbys that stream now, without consumers of logical changes. Ordinary logins may see no state, and count none. */
const STANDBYS = `SELECT CAST(count(*) AS text) AS standbys, CAST(count(CASE WHEN sync_state <> 'async' THEN 1 END) AS text) AS synchronous
  FROM pg_stat_replication WHERE state = 'streaming' AND application_name <> 'pg_basebackup'
    AND pid NOT IN (SELECT active_pid FROM pg_replication_slots WHERE slot_type = 'logical' AND active_pid IS NOT NULL)`;

/** Errors that are no answer: of the connection, of resources, of an operator who ends the server, of a transaction. */
const NO_ANSWER = /^(08|25|40|53|57|58)/;

/**
 * The timelines of a server and of those that were promoted after it: each promotion raises the number. Another cluster of databases, such as one
 * that pg_upgrade has made, has timelines of its own.
 */
class Timelines implements LineageOrder {
  #system: string | undefined;
  #first: number | undefined;
  #latest: number | undefined;

  require(lineage: string): void {
    const [, digits, system] = /^([0-9A-F]{8}) \d+ (\d+)$/.exec(lineage) ?? [];
    // A standby has none.
    if (digits === undefined) return;
    const timeline = Number.parseInt(digits, 16);
    if (system !== this.#system) {
      this.#system = system;
      this.#latest = undefined;
    }
    if (judgeServer(this.#latest, timeline).kind === 'refuse')
      throw wentBack({
        message:
          `this PostgreSQL server is on timeline ${timeline}, and this process has used one on timeline ${this.#latest}: a standby was promoted in ` +
          'its place, and it still answers. Nothing was taken from it. End it, or lead all connections to the new server; if the older server is ' +
          'the right one, start this process again',
      });
    this.#first = this.#latest === undefined ? timeline : this.#first;
    this.#latest = timeline;
  }

  get condition(): string {
    if (this.#latest === this.#first) return '';
    const latest = (this.#latest as number).toString(16).toUpperCase().padStart(8, '0');
    return ` AND (${TIMELINE} >= '${latest}' OR ${SYSTEM} <> '${this.#system}')`;
  }
}

/** The lineage of the tables of a store in PostgreSQL. */
export class PostgresLineage {
  readonly leases = new SqlLineage();
  readonly sequences = new SqlLineage();
  readonly #ask: Ask;
  readonly #isLossless: boolean;
  readonly #told = new OneSuccess<void>();
  readonly #standbys = new OneSuccess<void>();
  readonly #timelines = new Timelines();

  /** @param isLossless true if promotions lose nothing and do not count */
  constructor(ask: Ask, isLossless: boolean) {
    this.#ask = ask;
    this.#isLossless = isLossless;
  }

  /** Learns how the server tells the lineage of a table. A server that does not is no failure. */
  async learn(lineage: SqlLineage, table: string): Promise<void> {
    try {
      await this.#told.run(() => this.#tryOut());
      const parts = [`CAST(CAST(to_regclass('${table}') AS oid) AS text)`, SYSTEM];
      if (this.#isLossless) lineage.told(`(${parts.join(JOINED)})`);
      else lineage.told(`(${[TIMELINE, ...parts].join(JOINED)})`, this.#timelines, comparedByParts(table));
    } catch (error) {
      if (!isAnswer(error)) throw error;
      lineage.untold(
        `the server does not tell whether it has lost writes (${reasonOf(error)}): this login needs the functions pg_current_wal_lsn, ` +
          'pg_walfile_name and pg_control_system. Where a failover loses nothing, set losslessFailover. See docs/lineage.md',
      );
    }
    await this.#standbys.run(() => this.#warnOfStandbys());
  }

  /** Asks for the parts of the lineage, to see whether this login may. */
  async #tryOut(): Promise<void> {
    await this.#ask(`SELECT ${SYSTEM} AS system${this.#isLossless ? '' : `, ${TIMELINE} AS timeline`}`);
  }

  async #warnOfStandbys(): Promise<void> {
    if (this.#isLossless) return;
    const [row] = await this.#ask(STANDBYS).catch((error) => {
      if (!isAnswer(error)) throw error;
      return [{}];
    });
    const [standbys, synchronous] = Object.values(row as object).map(Number);
    if (!standbys || synchronous) return;
    warn(
      'the PostgreSQL server has standbys, and none of them is synchronous: a failover loses the last writes. After one, leases wait and ' +
        'sequences jump, and a loss of more than a minute can repeat ids. Set synchronous_standby_names: see docs/lineage.md',
      'STORE_ASYNC_STANDBYS',
    );
  }
}

/**
 * Compares a lineage part by part. This is for statements that change something, which a standby refuses before it looks at their conditions, and
 * spares the server from putting together a text at each of them.
 */
const comparedByParts =
  (table: string): LineageComparison =>
  (values, lineage) => {
    const [, timeline, oid, system] = /^([0-9A-F]{8}) (\d+) (\d+)$/.exec(lineage) ?? [];
    if (system === undefined) return undefined;
    const isOnTimeline = `pg_walfile_name(pg_current_wal_lsn()) LIKE ${values.bytes(`${timeline}%`)}`;
    return `to_regclass('${table}') = ${values.bytes(oid as string)} AND ${isOnTimeline} AND ${SYSTEM} = ${values.bytes(system)}`;
  };

const isAnswer = (error: unknown) =>
  errorsIn(error).some(
    ({ code }) => typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && !NO_ANSWER.test(code),
  );
