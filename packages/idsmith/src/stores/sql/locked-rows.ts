import type { SqlExecutor, SqlValue } from '../../drivers/port.js';
import { checkedExecutorOf } from '../../drivers/recognise.js';
import { requireTransaction } from '../../drivers/transaction.js';
import { sha256Hex } from '../../encoding/hex.js';
import { InvalidOptionError, StoreError } from '../../errors.js';
import { show } from '../../options.js';
import { alterRow, defineRow, type SequenceRow, takeBlocks } from '../../sequence/blocks.js';
import type { SequenceDefinition } from '../../sequence/port.js';
import { marked, randomNumber, type SequenceRows } from '../../sequence/rows.js';
import { storeError } from '../../support/store-error.js';
import type { Columns } from './columns.js';
import { DIALECTS, type RunStatement } from './dialect.js';
import type { SqlLineage } from './lineage.js';
import { sqlRows } from './sequences.js';
import { inTurn, statementError } from './session.js';
import { columnsOf, mysqlPlace, SHOW_COLUMNS } from './table.js';
import { onlyInteger, plainText } from './values.js';

// Numbers inside a transaction of the caller's, for `gapless` and for series. Several objects may stand for one connection, so no step
// relies on them: every write compares what was read, and calls on one connection take turns by the name that the database has for it.

/** The most times that a locked row is read again because other calls on the same connection have changed it. */
const MOST_TRIES = 10_000;

/**
 * Runs `work` in the caller's transaction.
 *
 * @param caller the function in messages
 * @throws InvalidOptionError when no transaction is open, or the object is a pool or unknown
 */
export async function inCallersTransaction<T>(
  transaction: object,
  caller: string,
  work: (sql: SqlExecutor) => Promise<T>,
): Promise<T> {
  const executor = checkedExecutorOf(transaction);
  // One statement at a time, as drivers ask for. Another object of the same connection has another executor, hence the second turn.
  return inTurn(executor, async () => {
    const { connection } = await requireTransaction(executor).catch((error) => {
      throw storeError(`${caller}: looking for the transaction`, error);
    });
    return connection === undefined ? work(executor) : inTurn(connection, () => work(executor));
  });
}

/** Rows of `id_sequences` in a transaction. A row that is locked stays so until the transaction ends. */
export class LockedRows {
  readonly #sql: SqlExecutor;
  readonly #caller: string;
  readonly #columns: Columns | undefined;
  readonly #locked: SequenceRows;
  readonly #unlocked: SequenceRows;
  /** The place of the rows in MySQL, where it matters whether a row is there for certain. */
  #place: { readonly database: string; readonly connection: string } | undefined;
  /** The generations of the rows that this object has made. */
  readonly #made = new Set<number>();

  private constructor(sql: SqlExecutor, caller: string, lineage: SqlLineage | undefined) {
    this.#sql = sql;
    this.#caller = caller;
    const run: RunStatement = async (what, build, make) => {
      const { sql, values } = build();
      return make(await this.#query(what, sql, values));
    };
    const dialect = DIALECTS[sql.dialect];
    this.#columns = sql.dialect === 'mysql' ? columnsOf(dialect) : undefined;
    this.#locked = sqlRows(dialect, {
      run,
      columns: this.#columns,
      isInside: true,
      ...(lineage && { lineage }),
    });
    this.#unlocked = sqlRows(dialect, { run });
  }

  /**
   * The rows in the database of an executor that is inside a transaction.
   *
   * @param caller the function in messages
   * @param lineage of the database, if rows are to be read with it
   * @throws InvalidOptionError when MySQL keeps the table in a storage engine without transactions
   */
  static async open(sql: SqlExecutor, caller: string, lineage?: SqlLineage): Promise<LockedRows> {
    const rows = new LockedRows(sql, caller, lineage);
    if (sql.dialect === 'mysql') await rows.#lookAtTable();
    // Begin to write now: SQLite refuses the first write of a transaction that has only read, if another connection has written since.
    if (sql.dialect === 'sqlite')
      await rows.#query('locking the file', 'UPDATE id_sequences SET name = name WHERE 0');
    return rows;
  }

  async #lookAtTable(): Promise<void> {
    const ask = (text: string) => this.#query('looking at the table', text);
    const place = await mysqlPlace(ask);
    if (place.engine !== undefined && !place.hasTransactions)
      throw new InvalidOptionError(
        `transaction must be on a table that has transactions: id_sequences is in the storage engine ${place.engine}, which has ` +
          'none, so a rollback would leave a gap. Run ALTER TABLE id_sequences ENGINE = InnoDB',
      );
    this.#columns?.learn(await ask(SHOW_COLUMNS));
    this.#place = place;
  }

  /** The row, locked. */
  lock(name: string): Promise<SequenceRow | undefined> {
    return this.#locked.read(name);
  }

  /** The row, locked. It is made if it is missing. */
  async lockOrMake(name: string, start: bigint, max: bigint): Promise<SequenceRow> {
    // In MySQL a lock on a missing row is one on the gap beside it, where the INSERT of others would wait. So there is no look at a
    // row that may be missing.
    const isThere = this.#place === undefined || known.has(this.#keyOf(name));
    return (isThere && (await this.lock(name))) || this.#make({ name, start, max });
  }

  /**
   * The row, which is made if it is missing, without a lock if it is there. In MySQL this fixes what the rest of the transaction sees,
   * so wait for locks before.
   */
  async readOrMake(name: string, start: bigint): Promise<SequenceRow> {
    return (await this.#unlocked.read(name)) ?? this.#make({ name, start });
  }

  /** Removes a row again if this object has made it. */
  async unmake(row: SequenceRow): Promise<void> {
    if (this.#made.delete(row.generation)) await this.#locked.delete(row);
  }

  /**
   * Takes one number of a locked row, with any block size.
   *
   * @param highest the number up to which the row may go from now on, if that is further than before
   * @param check throws if the number cannot be used; nothing is taken then
   * @throws SequenceExhaustedError when all numbers are used
   */
  async take(
    locked: SequenceRow,
    highest = locked.max,
    check: (number: bigint) => void = () => {},
  ): Promise<bigint> {
    let row: SequenceRow | undefined = locked;
    for (let tries = 0; row !== undefined && tries < MOST_TRIES; tries++) {
      const single = { ...row, blockSize: 1 };
      const taken = takeBlocks(row.max < highest ? alterRow(single, { max: highest }) : single, 1);
      check(taken.block.first);
      if (await this.#swap(row, marked({ ...taken.row, blockSize: row.blockSize }))) return taken.block.first;
      // Another call on this connection was quicker.
      row = await this.lock(row.name);
    }
    throw new StoreError(
      `sequence ${show(locked.name)} was changed although its row is locked: roll back and try again`,
      { reason: 'CONFLICT' },
    );
  }

  /** The database's clock, ms. */
  now(): Promise<number> {
    return databaseNow(this.#sql, this.#caller);
  }

  async #swap(row: SequenceRow, next: SequenceRow): Promise<boolean> {
    const isChanged = await this.#locked.swap(row, next);
    // An update in MySQL gives no rows.
    return this.#place === undefined ? isChanged : (await this.lock(next.name))?.mark === next.mark;
  }

  async #make(definition: SequenceDefinition): Promise<SequenceRow> {
    const { name } = definition;
    const made = defineRow({ ...definition, blockSize: 1 }, randomNumber());
    await this.#oneByOne(name, () => this.#locked.insert(made));
    const row = await this.lock(name);
    if (row === undefined)
      throw new StoreError(
        `the counter ${show(name)} was made by another transaction meanwhile: roll back and try again`,
        { reason: 'CONFLICT' },
      );
    if (row.generation === made.generation) this.#made.add(made.generation);
    if (this.#place !== undefined) this.#note(row, row.generation === made.generation);
    return row;
  }

  /**
   * Notes a row that is there for certain. One that this connection has made may be part of a transaction that is still open, and may go
   * with it. One that another connection has made is committed, or this one would not see it.
   */
  #note({ name, generation }: SequenceRow, isMade: boolean): void {
    const { connection } = this.#place as { connection: string };
    for (const notes of [makers, known]) if (notes.size >= MOST_KNOWN) notes.clear();
    if (isMade) makers.set(generation, connection);
    else if (makers.get(generation) !== connection) known.add(this.#keyOf(name));
  }

  #keyOf(name: string): string {
    return `${this.#place?.database} ${name}`;
  }

  /**
   * Runs the INSERT of a row. In MySQL, those who make the same row come one by one: if many wait for a row whose transaction is rolled
   * back, all of them get a lock on the gap that the row leaves, and the first INSERT into the gap is a deadlock.
   */
  async #oneByOne(name: string, insert: () => Promise<unknown>): Promise<void> {
    if (this.#place === undefined) return void (await insert());
    // Names of locks hold for a whole server, and have at most 64 characters.
    const lock = `idsmith:${(await sha256Hex(this.#keyOf(name))).slice(0, 40)}`;
    // Some clusters have no such locks. A deadlock is an error of one of the two there.
    const rows = await this.#sql
      .query(`SELECT CAST(GET_LOCK(?, ${LONGEST_WAIT}) AS CHAR) AS got`, [lock])
      .catch(() => undefined);
    if (rows === undefined) return void (await insert());
    if (plainText(Object.values(rows[0] ?? {})[0]) !== '1')
      throw new StoreError(
        `another transaction has been making the counter ${show(name)} for ${LONGEST_WAIT} seconds: roll back and try again`,
        { reason: 'LOCKED' },
      );
    try {
      await insert();
    } finally {
      // The lock ends with the connection, too.
      await this.#sql.query('DO RELEASE_LOCK(?)', [lock]).catch(() => undefined);
    }
  }

  async #query(what: string, text: string, values: readonly SqlValue[] = []): Promise<readonly unknown[]> {
    try {
      return await this.#sql.query(text, values);
    } catch (error) {
      throw statementError(`${this.#caller}: ${what}`, error);
    }
  }
}

/** The longest wait in MySQL for another transaction that makes the same row, seconds. */
const LONGEST_WAIT = 50;

/** Rows that are there for certain in MySQL, by database and name, and the connections that made rows, by the rows' generations. */
const known = new Set<string>();
const makers = new Map<number, string>();
const MOST_KNOWN = 10_000;

/** The clock of a database, ms. */
export async function databaseNow(sql: SqlExecutor, caller: string): Promise<number> {
  try {
    return onlyInteger(await sql.query(`SELECT ${DIALECTS[sql.dialect].clock} AS now`));
  } catch (error) {
    throw storeError(`${caller}: reading the database's clock`, error);
  }
}
