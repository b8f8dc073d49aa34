import type { SqlExecutor, SqlValue } from '../../drivers/port.js';
import { checkedExecutorOf } from '../../drivers/recognise.js';
import {
  askTransaction,
  type CheckedExecutor,
  noTransaction,
  type OpenTransaction,
  requireTransaction,
} from '../../drivers/transaction.js';
import { sha256Hex } from '../../encoding/hex.js';
import { InvalidOptionError, StoreError } from '../../errors.js';
import { show } from '../../options.js';
import { alterRow, defineRow, type SequenceRow, takeBlocks } from '../../sequence/blocks.js';
import type { SequenceDefinition } from '../../sequence/port.js';
import { marked, randomNumber, type SequenceRows } from '../../sequence/rows.js';
import { storeError } from '../../support/store-error.js';
import type { Columns } from './columns.js';
import { DIALECTS, type Dialect, type RunStatement, Values } from './dialect.js';
import type { SqlLineage } from './lineage.js';
import { called, columnList, exhaustedFlag, sequenceRow, sqlRows } from './sequences.js';
import { inTurn, statementError } from './session.js';
import { columnsOf, mysqlEngine, SHOW_COLUMNS } from './table.js';
import { exactBigInt, exactInteger, onlyInteger, plainText } from './values.js';

// Numbers inside a transaction of the caller's, for `gapless` and for series. Several objects may stand for one connection, so no step
// relies on them: every write compares what was read, and a call that finds the row changed reads it again.

/** The most times that a locked row is read again because other calls on the same connection have changed it. */
const MOST_TRIES = 10_000;

/**
 * Runs `work` in the caller's transaction, after the database was asked whether one is open.
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
    const { connection } = await openTransaction(executor, caller);
    return connection === undefined ? work(executor) : inTurn(connection, () => work(executor));
  });
}

/**
 * Runs `work` on rows in the caller's transaction. The statements on the rows find out themselves whether a transaction is open.
 *
 * @param caller the function in messages
 * @throws InvalidOptionError when the object is a pool or unknown; the methods of the rows throw it when no transaction is open
 */
export async function withCallersRows<T>(
  transaction: object,
  caller: string,
  work: (rows: LockedRows, sql: SqlExecutor) => Promise<T>,
): Promise<T> {
  const executor = checkedExecutorOf(transaction);
  return inTurn(executor, async () => {
    if (!(await executor.mayBeInside())) throw noTransaction();
    return work(await LockedRows.open(executor, caller, () => openTransaction(executor, caller)), executor);
  });
}

const openTransaction = (executor: CheckedExecutor, caller: string) =>
  requireTransaction(executor).catch((error) => {
    throw storeError(`${caller}: looking for the transaction`, error);
  });

/** What the database says of a write. */
interface Written {
  /** The database's clock after the row was locked, ms. */
  readonly at: number;
  /** The start of a second row, read without a lock; `undefined` if there is none. */
  readonly start: bigint | undefined;
}

/** A number that was taken from a row. */
interface TakenRow extends Written {
  readonly number: bigint;
  readonly before: SequenceRow;
  readonly after: SequenceRow;
}

/**
 * Rows of `id_sequences` in a transaction. A row that is locked stays so until the transaction ends.
 *
 * A number takes two statements: one that locks the row and names the transaction, and one that writes it if the transaction is still
 * open. MySQL needs a third one, because an update gives no rows there.
 */
export class LockedRows {
  readonly #sql: SqlExecutor;
  readonly #dialect: Dialect;
  readonly #caller: string;
  readonly #lineage: SqlLineage | undefined;
  readonly #ask: () => Promise<OpenTransaction>;
  readonly #run: RunStatement;
  /** True once the database has said that a transaction is open. */
  #isInside = false;
  /** The name that PostgreSQL has given to the transaction. */
  #transaction: string | undefined;
  /** The connection and the database in MySQL, where it matters whether a row is there for certain. */
  #connection: string | undefined;
  #database: string | undefined;
  /** The generations of the rows that this object has made. */
  readonly #made = new Set<number>();

  private constructor(
    sql: SqlExecutor,
    caller: string,
    ask: () => Promise<OpenTransaction>,
    lineage: SqlLineage | undefined,
  ) {
    this.#sql = sql;
    this.#dialect = DIALECTS[sql.dialect];
    this.#caller = caller;
    this.#ask = ask;
    this.#lineage = lineage;
    this.#run = async (what, build, make) => {
      const { sql, values } = build();
      return make(await this.#query(what, sql, values));
    };
  }

  /**
   * The rows in the database of an executor.
   *
   * @param caller the function in messages
   * @param ask asks the database for the transaction, and throws if none is open
   * @param lineage of the database, if rows are to be read with it
   */
  static async open(
    sql: SqlExecutor,
    caller: string,
    ask: () => Promise<OpenTransaction>,
    lineage?: SqlLineage,
  ): Promise<LockedRows> {
    const rows = new LockedRows(sql, caller, ask, lineage);
    // Begin to write now: SQLite refuses the first write of a transaction that has only read, if another connection has written since.
    if (sql.dialect === 'sqlite') {
      await rows.#requireInside();
      await rows.#query('locking the file', 'UPDATE id_sequences SET name = name WHERE 0');
    }
    return rows;
  }

  /**
   * The rows in a transaction of the store's own.
   *
   * @param lineage of the database, if rows are to be read with it
   */
  static async ofStore(sql: SqlExecutor, caller: string, lineage?: SqlLineage): Promise<LockedRows> {
    const ask = async () =>
      (sql.dialect === 'mysql' ? await askTransaction.mysql(sql.query) : undefined) ?? {};
    return LockedRows.open(sql, caller, ask, lineage);
  }

  /**
   * The row, locked.
   *
   * @param databases those of MySQL in which the row may be locked. Default all
   * @throws InvalidOptionError when no transaction is open and there is no such row
   */
  async lock(name: string, databases?: ReadonlySet<string>): Promise<SequenceRow | undefined> {
    const { transaction, forUpdate } = this.#dialect;
    const build = () => {
      const values = new Values(this.#dialect);
      const places = [...(databases ?? [])].map((place) => `X'${this.#dialect.encode(place)}'`);
      const isThere =
        databases === undefined
          ? ''
          : ` AND CAST(${transaction.database} AS BINARY) IN (${places.join(', ')})`;
      const sql = `SELECT ${columnList(this.#dialect, this.#lineage)}, ${transaction.name} AS inside, ${transaction.database} AS place
        FROM id_sequences WHERE name = ${values.name(name)}${isThere}${forUpdate}`;
      return { sql, values: values.all };
    };
    const locked = await this.#run(`reading ${called(name)}`, build, ([found]) => {
      if (found === undefined) return undefined;
      const [inside, place] = Object.values(found as object).slice(-2);
      return { inside, place, row: sequenceRow(found, this.#lineage) };
    });
    if (locked !== undefined && this.#sql.dialect === 'mysql') {
      this.#database = plainText(locked.place);
      this.#isInside ||= plainText(locked.inside) === '1';
    }
    // PostgreSQL compares the name of the transaction when the row is written.
    if (locked !== undefined && this.#sql.dialect === 'postgres')
      this.#transaction = plainText(locked.inside);
    else await this.#requireInside();
    return locked?.row;
  }

  /** As {@link lock}. In MySQL, a row is locked only if it is there for certain. */
  async lockIfThere(name: string): Promise<SequenceRow | undefined> {
    // In MySQL a lock on a missing row is one on the gap beside it, where the INSERT of others would wait.
    if (this.#sql.dialect !== 'mysql') return this.lock(name);
    const databases = known.get(name);
    return databases && this.lock(name, databases);
  }

  /**
   * Makes a row unless it is there, and locks it.
   *
   * @throws InvalidOptionError when no transaction is open
   */
  async make(definition: SequenceDefinition): Promise<SequenceRow> {
    await this.#requireInside();
    const { name } = definition;
    const made = defineRow({ ...definition, blockSize: 1 }, randomNumber());
    if (this.#sql.dialect === 'mysql') await this.#requireFit(made);
    await this.#oneByOne(name, () => this.#insertions().insert(made));
    const row = await this.lock(name);
    if (row === undefined)
      throw new StoreError(
        `the counter ${show(name)} was made by another transaction meanwhile: roll back and try again`,
        { reason: 'CONFLICT' },
      );
    const isMade = row.generation === made.generation;
    if (isMade) this.#made.add(made.generation);
    if (this.#sql.dialect === 'mysql') this.#note(row, isMade);
    return row;
  }

  /** The start of a row, which is not locked. In MySQL this fixes what the rest of the transaction sees, so lock rows before. */
  async startOf(name: string): Promise<bigint | undefined> {
    return (await this.#insertions().read(name))?.start;
  }

  /** Operations on whole rows. The ranges of columns are checked before. */
  #insertions(): SequenceRows {
    return sqlRows(this.#dialect, {
      run: this.#run,
      isInside: true,
      ...(this.#lineage && { lineage: this.#lineage }),
    });
  }

  /**
   * Takes one number of a locked row, with any block size.
   *
   * @param second the name of another row, whose start is read after the lock
   * @param highest the number up to which the row may go from now on, if that is further than before
   * @param check throws if the number cannot be used; nothing is taken then
   * @throws InvalidOptionError when no transaction is open
   * @throws SequenceExhaustedError when all numbers are used
   */
  async take(
    locked: SequenceRow,
    second?: string,
    highest = locked.max,
    check: (number: bigint) => void = () => {},
  ): Promise<TakenRow> {
    let row: SequenceRow | undefined = locked;
    for (let tries = 0; row !== undefined && tries < MOST_TRIES; tries++) {
      const single = { ...row, blockSize: 1 };
      const taken = takeBlocks(row.max < highest ? alterRow(single, { max: highest }) : single, 1);
      check(taken.block.first);
      const after = marked({ ...taken.row, blockSize: row.blockSize });
      const written = await this.#write(row, after, second);
      if (written !== undefined) return { ...written, number: taken.block.first, before: row, after };
      // No transaction is open, or another call on this connection was quicker.
      await this.#requireInside();
      row = await this.lock(row.name);
    }
    throw changed(locked);
  }

  /** Undoes {@link take}, before anybody has the number. A row that this object has made goes again, too. */
  async giveBack({ before, after }: TakenRow): Promise<void> {
    const row = marked(before);
    if ((await this.#write(after, row)) === undefined) throw changed(after);
    if (this.#made.delete(row.generation)) await this.#insertions().delete(row);
  }

  /** The database's clock, ms. */
  now(): Promise<number> {
    return databaseNow(this.#sql, this.#caller);
  }

  /**
   * Writes what a locked row has from now on: the next number, its end, and its mark. The condition compares all that another call on the
   * same connection may have changed since the row was locked.
   *
   * @param second the name of another row, whose start is read after the lock
   * @returns `undefined` if nothing was written
   */
  async #write(from: SequenceRow, to: SequenceRow, second?: string): Promise<Written | undefined> {
    const { clock, asText, transaction, forUpdate } = this.#dialect;
    const isMysql = this.#sql.dialect === 'mysql';
    if (isMysql) await this.#requireFit(to);
    // In MySQL the start of the second row must not be read before this row is locked: it fixes what the rest of the transaction sees.
    const answer = (values: Values) => {
      const start = `(SELECT ${asText('s.first_id')} FROM id_sequences s WHERE s.name = ${second && values.name(second)})`;
      return `${clock} AS now, ${second === undefined ? 'NULL' : start} AS start`;
    };
    const update = () => {
      const values = new Values(this.#dialect);
      const sql = `UPDATE id_sequences SET next_block_start = ${values.integer(to.next)}, exhausted = ${values.integer(to.exhausted)},
          max_id = ${values.integer(to.max)}, swap_mark = ${values.integer(BigInt(to.mark))}
        WHERE name = ${values.name(from.name)} AND next_block_start = ${values.integer(from.next)}
          AND ${exhaustedFlag(this.#dialect)} = ${values.integer(from.exhausted)} AND generation = ${values.integer(from.generation)}
          AND swap_mark = ${values.integer(BigInt(from.mark))}${this.#lineage?.isStill(values, from.lineage) ?? ''}${
            this.#transaction === undefined ? '' : transaction.isOpen(values, this.#transaction)
          }${isMysql ? '' : ` RETURNING ${answer(values)}`}`;
      return { sql, values: values.all };
    };
    const rows = await this.#run(`changing ${called(from.name)}`, update, (rows) => rows);
    if (!isMysql) return writtenOf(rows[0]);
    const look = () => {
      const values = new Values(this.#dialect);
      const columns = `${answer(values)}, ${asText('next_block_start')} AS next, ${asText('swap_mark')} AS mark`;
      const sql = `SELECT ${columns} FROM id_sequences WHERE name = ${values.name(from.name)}${forUpdate}`;
      return { sql, values: values.all };
    };
    return this.#run(`reading ${called(from.name)}`, look, ([row]) => {
      const [next, mark] = Object.values((row ?? {}) as object)
        .slice(-2)
        .map(plainText);
      return mark === to.mark && next === String(to.next) ? writtenOf(row) : undefined;
    });
  }

  async #requireInside(): Promise<void> {
    if (this.#isInside) return;
    const { connection, database } = await this.#ask();
    this.#isInside = true;
    this.#connection = connection;
    this.#database ??= database;
  }

  /**
   * Checks in MySQL that the table can hold a row. The table is looked at once a process, and again before a row is refused.
   *
   * @throws InvalidOptionError when the table is in a storage engine without transactions
   */
  async #requireFit(row: SequenceRow): Promise<void> {
    const database = String(this.#database);
    const columns = tables.get(database);
    try {
      if (columns !== undefined) return columns.requireRow(row);
    } catch {
      // The column may be wider by now.
    }
    const latest = await this.#lookAtTable();
    if (tables.size >= MOST_KNOWN) tables.clear();
    tables.set(database, latest);
    latest.requireRow(row);
  }

  async #lookAtTable(): Promise<Columns> {
    const ask = (text: string) => this.#query('looking at the table', text);
    const { engine, hasTransactions } = await mysqlEngine(ask);
    if (engine !== undefined && !hasTransactions)
      throw new InvalidOptionError(
        `transaction must be on a table that has transactions: id_sequences is in the storage engine ${engine}, which has ` +
          'none, so a rollback would leave a gap. Run ALTER TABLE id_sequences ENGINE = InnoDB',
      );
    const columns = columnsOf(this.#dialect);
    columns.learn(await ask(SHOW_COLUMNS));
    return columns;
  }

  /**
   * Notes a row that is there for certain in MySQL. A row that this connection has made may be part of a transaction that is still open,
   * and may go with it. A row that another connection has made is committed, or this one would not see it.
   */
  #note({ name, generation }: SequenceRow, isMade: boolean): void {
    const connection = String(this.#connection);
    for (const notes of [makers, known]) if (notes.size >= MOST_KNOWN) notes.clear();
    if (isMade) makers.set(generation, connection);
    else if (makers.get(generation) !== connection) {
      const databases = known.get(name) ?? new Set();
      if (databases.size >= MOST_DATABASES) databases.clear();
      known.set(name, databases.add(String(this.#database)));
    }
  }

  /**
   * Runs the INSERT of a row. In MySQL, those who make the same row come one by one: if many wait for a row whose transaction is rolled
   * back, all of them get a lock on the gap that the row leaves, and the first INSERT into the gap is a deadlock.
   */
  async #oneByOne(name: string, insert: () => Promise<unknown>): Promise<void> {
    if (this.#sql.dialect !== 'mysql') return void (await insert());
    // Names of locks hold for a whole server, and have at most 64 characters.
    const lock = `idsmith:${(await sha256Hex(`${this.#database} ${name}`)).slice(0, 40)}`;
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

/** The databases of MySQL in which a row is there for certain, by its name, and the connections that made rows, by the rows' generations. */
const known = new Map<string, Set<string>>();
const makers = new Map<number, string>();
const MOST_KNOWN = 10_000;
const MOST_DATABASES = 50;

/** The columns of `id_sequences` in each database of MySQL that was looked at. */
const tables = new Map<string, Columns>();

const changed = ({ name }: SequenceRow) =>
  new StoreError(`sequence ${show(name)} was changed although its row is locked: roll back and try again`, {
    reason: 'CONFLICT',
  });

/** What a row of an answer says of a write; `undefined` if there is no row. */
function writtenOf(row: unknown): Written | undefined {
  if (row === undefined) return undefined;
  const [now, start] = Object.values(row as object);
  return { at: exactInteger('now', now), start: start === null ? undefined : exactBigInt('first_id', start) };
}

/** The clock of a database, ms. */
export async function databaseNow(sql: SqlExecutor, caller: string): Promise<number> {
  try {
    return onlyInteger(await sql.query(`SELECT ${DIALECTS[sql.dialect].clock} AS now`));
  } catch (error) {
    throw storeError(`${caller}: reading the database's clock`, error);
  }
}
