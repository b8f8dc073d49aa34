import {
  atAnyTime,
  type Borrowed,
  isForeign,
  type Recogniser,
  type SqlDriver,
} from '../../drivers/driver.js';
import type { SqlDialect, SqlExecutor, SqlValue } from '../../drivers/port.js';
import { checkedExecutor, own } from '../../drivers/recognise.js';
import { errorsIn } from '../../drivers/transaction.js';
import { IdError, InvalidOptionError, StoreError } from '../../errors.js';
import { wentBack } from '../../lineage/went-back.js';
import { refuse, requireKnown, show } from '../../options.js';
import { sequenceStore } from '../../sequence/rows.js';
import { type Backoff, retry } from '../../support/retry.js';
import { OneSuccess } from '../../support/single-flight.js';
import { type DriverError, storeError } from '../../support/store-error.js';
import { noAnswer, requireTimeout, withTimeout } from '../../support/timeout.js';
import { makeStore, type OwnClient } from '../make-store.js';
import { SchemaGate, type SchemaMarker } from '../schema-version.js';
import type { DisposableStore, SqlAccess } from '../store.js';
import type { Columns } from './columns.js';
import type { Dialect, RunStatement } from './dialect.js';
import { sqlLeases } from './leases.js';
import { type LineageOptions, lineageOptions, type SqlLineage, withWarnings } from './lineage.js';
import { sqlRows } from './sequences.js';
import { columnsOf } from './table.js';

// The way of a statement to a database server, from the outside in. `serverStore` puts the parts of a store together: leases and rows of
// sequences make statements, and give them to a session.
// 1. `statements` waits for the set-up of the tables, repeats what the database has rolled back, and makes a StoreError of other failures.
// 2. `send`, of each database, sends a query or a change, and sees that no rollback of others can undo the change.
// 3. `onPooledConnection` borrows a connection, with one deadline for the wait and the answer.

/** Options of a store on a database server. */
export interface SqlStoreOptions {
  /** The longest time for a statement, ms, including the wait for a connection or a lock. Default 10,000. */
  readonly timeout?: number | undefined;
}

/**
 * The time limit of a store on a database server, ms.
 *
 * @throws InvalidOptionError when `timeout` is out of range, or an option is unknown
 */
export function sqlTimeout(options: SqlStoreOptions): number {
  return requireTimeout(requireKnown('options', options, ['timeout']).timeout, 10_000);
}

/** Options of a store on a database server that tells its lineage. */
export type ServerStoreOptions = SqlStoreOptions & LineageOptions;

/**
 * The options of a store on a database server, checked.
 *
 * @throws InvalidOptionError when an option is wrong or unknown
 */
export function serverOptions(options: ServerStoreOptions): ReturnType<typeof lineageOptions> & {
  timeout: number;
} {
  const { timeout, ...lineage } = requireKnown('options', options, [
    'timeout',
    'losslessFailover',
    'maxJump',
  ]);
  return { ...lineageOptions(lineage), timeout: requireTimeout(timeout, 10_000) };
}

/** Sends a statement and gives its rows. */
export type Ask = (text: string, values?: readonly SqlValue[]) => Promise<readonly unknown[]>;

/** A database server as a store uses it. Each server has its own way to send a change. */
export abstract class ServerSession {
  protected readonly driver: SqlDriver;
  protected readonly timeout: number;
  readonly #at: string | undefined;

  /**
   * @param timeout the longest time for a statement, ms
   * @param at the address of the server, for messages, if it is known
   */
  constructor(driver: SqlDriver, timeout: number, at?: string) {
    this.driver = driver;
    this.timeout = timeout;
    this.#at = at;
  }

  /**
   * Looks at the connection before tables are created.
   *
   * @throws StoreError inside a transaction, whose rollback would undo the tables, too
   */
  abstract prepare(): Promise<void>;

  /** Sends a statement within the time limit, and gives its rows. */
  abstract ask(text: string, values?: readonly SqlValue[]): Promise<readonly unknown[]>;

  /**
   * Sends a statement on leases or sequences. Gives the rows of a query, and a row for a change that was made.
   *
   * @throws StoreError for a change inside a transaction of others
   */
  protected abstract send(sql: string, values: readonly SqlValue[]): Promise<readonly unknown[]>;

  /** The statements that begin a transaction. `left` is the time until the caller gives up, ms. */
  protected abstract begin(left: number): readonly string[];

  /** Tells whether a statement that failed with this error had no effect and may succeed when it is repeated. */
  protected abstract isTransient(error: DriverError): boolean;

  /** Tells whether a connection with this error is of no more use. */
  protected abstract isUseless(error: unknown): boolean;

  /** True for an adapter of the user's own: changes are made in the transactions that the adapter makes. */
  protected get isAdapter(): boolean {
    return this.driver.borrow === undefined;
  }

  /** A runner of statements. `setUp` runs before the first one, and again only after a failure. */
  statements(setUp: () => Promise<void>): RunStatement {
    const run = this.runner(setUp);
    return (what, build, make) =>
      run(what, async () => {
        const { sql, values } = build();
        return make(await this.send(sql, values));
      });
  }

  /** A runner of operations, as {@link statements}. */
  runner(setUp: () => Promise<unknown>): SqlRun {
    return sqlRunner({
      name: this.driver.dialect,
      at: this.#at,
      setUp: async () => {
        await this.prepare();
        await setUp();
      },
      isTransient: (error) => this.isTransient(error),
    });
  }

  /** Runs `run` on a connection, within the time limit. */
  protected onConnection<T>(run: (connection: SqlDriver, left: number) => Promise<T>): Promise<T> {
    return onPooledConnection(this.timeout, {
      borrow: this.driver.borrow ?? atAnyTime(this.driver),
      run,
      isUseless: (error) => this.isUseless(error),
    });
  }

  /**
   * The way to transactions of one's own: of a pool, or of a client that makes transactions itself. Others share a single connection, and
   * their statements would be in the transaction.
   *
   * @param admit runs before everything that is sent
   * @param lineage of the database, in the statements on `id_sequences`
   */
  access(admit: () => Promise<unknown>, lineage: SqlLineage): SqlAccess | undefined {
    const { dialect, borrow, isPool, transaction } = this.driver;
    if (transaction === undefined && (!isPool || borrow === undefined)) return undefined;
    const outside = executorOf(
      dialect,
      async (text, values) => {
        await admit();
        return this.ask(text, values);
      },
      false,
    );
    return {
      outside,
      get lineage() {
        return lineage.expression;
      },
      transact: async (work) => {
        await admit();
        return this.transact(work);
      },
    };
  }

  /** Runs `work` in a transaction of its own, and commits. An error rolls back. */
  protected transact<T>(work: (sql: SqlExecutor) => Promise<T>): Promise<T> {
    const { dialect, borrow, transaction } = this.driver;
    if (transaction !== undefined) return this.#transactByClient(work);
    return onPooledConnection(this.timeout, {
      borrow: borrow ?? atAnyTime(this.driver),
      run: ({ query }, left) => within(query, this.begin(left), () => work(executorOf(dialect, query, true))),
      isUseless: (error) => !(error instanceof IdError) || error instanceof StoreError,
    });
  }

  /**
   * Runs work in a transaction that the client makes. Calls take turns, because the client may have one connection for all of them, and
   * the rollback of one call would undo the other one.
   */
  #transactByClient<T>(work: (sql: SqlExecutor) => Promise<T>): Promise<T> {
    let isLate = false;
    const onTimeout = () => {
      isLate = true;
    };
    const requireTime = () => {
      if (isLate)
        throw new StoreError(`no answer within ${this.timeout} ms: nothing is changed`, {
          reason: 'TIMEOUT',
        });
    };
    const result = inTurn(this.driver.client ?? this.driver, async () => {
      requireTime();
      await this.requireNoTransaction();
      return committed(this.driver, async (sql) => {
        requireTime();
        const answer = await work(sql);
        requireTime();
        return answer;
      });
    });
    return withTimeout(result, this.timeout, { onTimeout });
  }

  /** @throws StoreError when an adapter is inside a transaction, of which its own transactions would be a part */
  protected async requireNoTransaction(): Promise<void> {
    if (!(await checkedExecutor(this.driver).inTransaction())) return;
    throw new StoreError(
      `${this.driver.dialect} store: the adapter is inside an open transaction, whose rollback would undo the change and repeat ` +
        'ids. Give the store an adapter of a pool',
      { reason: 'IN_TRANSACTION' },
    );
  }
}

/** The differences between database servers in how a store is set up. */
interface Server {
  readonly kind: 'postgres' | 'mysql';
  readonly dialect: Dialect;
  marker(ask: Ask): SchemaMarker;
  createLeaseTable(ask: Ask, mark: () => Promise<void>): Promise<void>;
  setUpSequenceTable(ask: Ask, columns: Columns, mark: () => Promise<void>): Promise<void>;
  /** Tells whether sequences have a past: the user may use its table. */
  setUpPasts(ask: Ask, lineage: SqlLineage): Promise<boolean>;
  /** @param isLossless true if promotions lose nothing and do not count */
  lineage(ask: Ask, isLossless: boolean): ServerLineage;
}

/** The lineage of the tables of a store. */
interface ServerLineage {
  readonly leases: SqlLineage;
  readonly sequences: SqlLineage;
  /** Learns how the server tells the lineage of a table. A server that does not is no failure. */
  learn(lineage: SqlLineage, table: string): Promise<void>;
}

/** A store on a database server. Its tables are made at their first use. */
export function serverStore(
  server: Server,
  session: ServerSession,
  { isLossless, maxJump }: ReturnType<typeof serverOptions>,
  own: OwnClient | undefined,
): DisposableStore {
  const { kind, dialect } = server;
  const ask: Ask = (text, values) => session.ask(text, values);
  const schema = new SchemaGate(kind, server.marker(ask));
  const admit = () => schema.admit();
  const mark = () => schema.mark();
  const columns = columnsOf(dialect);
  const lineage = server.lineage(ask, isLossless);
  const leases = session.statements(async () => {
    await admit();
    await server.createLeaseTable(ask, mark);
    await lineage.learn(lineage.leases, 'idsmith_leases');
  });
  const sequences = session.statements(async () => {
    await admit();
    await server.setUpSequenceTable(ask, columns, mark);
    if (await server.setUpPasts(ask, lineage.sequences))
      await lineage.learn(lineage.sequences, 'id_sequences');
  });
  const rows = sqlRows(dialect, { run: sequences, columns, lineage: lineage.sequences, maxJump });
  const alone = session.runner(admit);
  const sql = session.access(admit, lineage.sequences);
  return makeStore(
    kind,
    {
      ...sqlLeases(dialect, leases, lineage.leases),
      ...withWarnings(sequenceStore(rows), lineage),
      schemaVersion: () => alone('schemaVersion', admit),
      durable: true,
      ...(sql && { sql }),
    },
    own,
  );
}

/** An executor of which is known whether it is inside a transaction. */
export function executorOf(
  dialect: SqlDialect,
  send: (text: string, values: readonly SqlValue[]) => Promise<unknown>,
  isInside: boolean,
): SqlExecutor {
  return {
    dialect,
    query: async (text, values = []) => (await send(text, values)) as Record<string, unknown>[],
    inTransaction: async () => isInside,
  };
}

/** Runs `work` between statements that begin and commit a transaction, on one connection. */
async function within<T>(
  send: SqlDriver['query'],
  begin: readonly string[],
  work: () => Promise<T>,
): Promise<T> {
  for (const statement of begin) await send(statement, []);
  let result: T;
  try {
    result = await work();
  } catch (error) {
    // If this fails, the connection is broken, and the server rolls back. The first error tells more.
    await send('ROLLBACK', []).catch(() => undefined);
    throw error;
  }
  await send('COMMIT', []);
  return result;
}

/** The result of work in a transaction of the client, after the commit. */
async function committed<T>(driver: SqlDriver, work: (sql: SqlExecutor) => Promise<T>): Promise<T> {
  let outcome: { value: T } | { error: unknown } | undefined;
  const commit = driver.transaction?.(async (inside) => {
    try {
      outcome = { value: await work(checkedExecutor(inside)) };
    } catch (error) {
      outcome = { error };
      throw error;
    }
  });
  try {
    await commit;
  } catch (error) {
    outcome = { error: outcome && 'error' in outcome ? outcome.error : error };
  }
  if (outcome === undefined)
    refuse('transaction()', 'a method that runs its work before it answers', undefined);
  if ('error' in outcome) throw outcome.error;
  return outcome.value;
}

/** The last call of each key. */
const turns = new Map<unknown, Promise<unknown>>();

/** Runs calls of one key one after the other. */
export function inTurn<T>(key: unknown, call: () => Promise<T>): Promise<T> {
  const result = (turns.get(key) ?? Promise.resolve()).then(call);
  const turn = result
    .catch(() => {})
    .finally(() => {
      if (turns.get(key) === turn) turns.delete(key);
    });
  turns.set(key, turn);
  return result;
}

/**
 * The driver of a client: an adapter of the user's own, or what one of the recognisers knows.
 *
 * @param known names the clients in the message of the error
 * @throws InvalidOptionError when the client is none of these, or an adapter for another database
 */
export function driverOf(
  client: unknown,
  dialect: SqlDialect,
  recognisers: readonly Recogniser[],
  known: string,
): SqlDriver {
  if (!isForeign(client)) return refuse('client', known, client);
  const adapter = own(client);
  if (adapter === undefined) {
    const [driver] = recognisers.flatMap((recognise) => recognise(client) ?? []);
    return driver ?? refuse('client', known, client);
  }
  const { query } = checkedExecutor(adapter);
  if (adapter.dialect !== dialect) refuse('dialect', show(dialect), adapter.dialect);
  return { ...adapter, query, client };
}

/** @throws InvalidOptionError when the driver is an adapter without transactions */
export function requireTransactions(driver: SqlDriver): SqlDriver {
  if (driver.borrow !== undefined || driver.transaction !== undefined) return driver;
  throw new InvalidOptionError(
    'the adapter of a store must have a method transaction(work), which runs work in a transaction of its own, with an adapter of ' +
      'its connection, and commits. Without it, a rollback of others could undo a change, and ids would repeat',
  );
}

/** The shortest time that is worth starting a statement, ms. */
const SHORTEST = 50;

/** The way to run a statement on a connection of a pool. */
interface PooledWork<C, T> {
  borrow(): Promise<Borrowed<C>>;
  /** Runs the statement. `left` is the time until the caller gives up, ms. */
  run(connection: C, left: number): Promise<T>;
  /** Tells whether a connection with this error is of no more use. */
  isUseless(error: unknown): boolean;
}

/**
 * Runs a statement within `timeout` ms, the wait for a connection included. A statement whose connection comes too late is never
 * run, and a connection that does not answer leaves the pool.
 *
 * @throws StoreError when no connection was free in time
 * @throws Error when there was no answer in time
 */
export function onPooledConnection<C, T>(timeout: number, work: PooledWork<C, T>): Promise<T> {
  const deadline = performance.now() + timeout;
  let isLate = false;
  let borrowed: Borrowed<C> | undefined;
  const giveBack = (how: 'release' | 'destroy') => {
    const held = borrowed;
    borrowed = undefined;
    held?.[how]();
  };
  const ask = async (): Promise<T> => {
    borrowed = await work.borrow().catch((error) => {
      // The pool of pg has a time limit of its own, `connectionTimeoutMillis`.
      throw /^timeout exceeded/.test(error?.message) ? noConnection(timeout, error) : error;
    });
    try {
      const left = deadline - performance.now();
      // The caller has already got its error, or will get it before the statement can end.
      if (isLate || left < Math.min(SHORTEST, timeout / 4)) throw noConnection(timeout);
      return await work.run(borrowed.connection, left);
    } catch (error) {
      if (work.isUseless(error)) giveBack('destroy');
      throw error;
    } finally {
      giveBack('release');
    }
  };
  let wasConnected = false;
  return withTimeout(ask(), timeout, {
    onTimeout: () => {
      isLate = true;
      wasConnected = borrowed !== undefined;
      giveBack('destroy');
    },
    error: () => (wasConnected ? noAnswer(timeout) : noConnection(timeout)),
  });
}

/** The error for a wait for a connection that was too long. */
function noConnection(timeout: number, cause?: unknown): StoreError {
  return new StoreError(
    `no connection was free within ${timeout} ms: the server does not answer, or all connections of the pool are in use. ` +
      'If the transactions that use them wait for this call, give the store a pool of its own',
    { reason: 'NO_CONNECTION', ...(cause !== undefined && { cause }) },
  );
}

/** Longer than an ordinary writer holds its locks, shorter than a lease lasts, ms. */
const PATIENCE = 5000;
const BACKOFF = { unit: 5, longest: 250 };

/** The differences between databases in {@link sqlRunner}. */
interface SqlRunnerOptions {
  /** The store's name in messages. */
  readonly name: string;
  /** The address of the server, for messages, if it is known. */
  readonly at?: string | undefined;
  /** Makes missing tables. Runs before the first operation, and again only after a failure. */
  setUp(): Promise<void> | void;
  /** Tells whether a statement that failed with this error had no effect and may succeed when it is repeated. */
  isTransient(error: DriverError): boolean;
  /** The time for which transient failures are repeated, ms. Default five seconds. */
  readonly patience?: number | undefined;
  /** The pauses between the tries. */
  readonly pauses?: Backoff;
}

/** Runs an operation of a store. The operation is named in messages. */
export type SqlRun = <T>(operation: string, statement: () => Promise<T> | T) => Promise<T>;

/**
 * Wraps the statements of a store. The first statement waits for the set-up. A transient failure is repeated. Any other
 * failure becomes a `StoreError`.
 */
export function sqlRunner(options: SqlRunnerOptions): SqlRun {
  const { name, at, setUp, isTransient, patience = PATIENCE, pauses = BACKOFF } = options;
  const place = at === undefined ? '' : ` at ${at}`;
  const tables = new OneSuccess<void>();
  const persist = <T>(work: () => Promise<T> | T) =>
    retry(work, {
      isTransient: (error) => isTransient((error ?? {}) as DriverError),
      pauses,
      budget: patience,
    });
  return async (operation, statement) => {
    let isSetUp = false;
    try {
      await tables.run(() => persist(setUp));
      isSetUp = true;
      return await persist(statement);
    } catch (error) {
      const failure = sqlError(`${name} store: ${operation}${place}`, error);
      if (!isSetUp || !isMissingTable(error)) throw failure;
      // Nothing is made again here: somebody may be restoring a dump.
      const message = `${failure.message}. The tables were there before: the store has lost everything, or an empty one has taken its place`;
      throw wentBack({ message: `${message}. Nothing was handed out: see docs/lineage.md`, cause: error });
    }
  };
}

/** The error for a statement that failed, with the setting that is wrong if the server takes no writes. */
function sqlError(what: string, error: unknown): Error {
  const failure = storeError(what, error);
  const setting = readOnlySetting(error);
  if (setting === undefined || failure === error) return failure;
  return new StoreError(`${failure.message}; ${setting}: a store needs the primary, which takes writes`, {
    cause: error,
    reason: 'READ_ONLY',
  });
}

/** The reason why a server takes no writes; `undefined` for any other error. */
function readOnlySetting(error: unknown): string | undefined {
  for (const { code, errno, message } of errorsIn(error)) {
    if (code === '25006') return 'the server is a hot standby, or default_transaction_read_only is on';
    if (errno === 1290 && /read.only/i.test(String(message))) return 'read_only is on, as on a replica';
    if (errno === 1792) return 'transaction_read_only is on';
  }
  return undefined;
}

/** True for an error, or one that an ORM has wrapped, that says that a table is missing. */
export const isMissingTable = (error: unknown): boolean =>
  errorsIn(error).some(
    ({ code, errno, message }) => code === '42P01' || errno === 1146 || /no such table/.test(String(message)),
  );

/**
 * The error for a statement that failed, with the way out if its table is missing.
 *
 * @param what the operation that failed: `series: reading the log`
 * @param create the statement that creates the table, if the user may run it
 */
export function statementError(what: string, error: unknown, create?: string): Error {
  const failure = sqlError(what, error);
  if (!isMissingTable(error)) return failure;
  return new StoreError(
    `${failure.message}; make the table first: connect to this database with connect(url), and define the sequence or call ` +
      `series() of what it gives${create === undefined ? '' : `, or run: ${create}`}`,
    { cause: error, reason: 'NOT_FOUND' },
  );
}
