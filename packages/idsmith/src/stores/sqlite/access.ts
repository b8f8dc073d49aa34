import { type SqliteConnection, sqliteRowsOf } from '../../executor/drivers.js';
import type { SqlExecutor } from '../../executor/port.js';
import { executorOf, type SqlAccess } from '../sql/access.js';
import type { SqlRun } from '../sql/runner.js';
import type { SqliteRunner } from './connection.js';

/** The access to a SQLite file on the store's only connection. */
export class SqliteAccess implements SqlAccess {
  readonly outside: SqlExecutor;
  readonly #db: SqliteConnection;
  #isOpen = false;
  #run: SqlRun | undefined;

  constructor(db: SqliteConnection) {
    this.#db = db;
    this.outside = this.#executor((statement) => this.#begun('a statement of a series', statement), false);
  }

  /** A runner whose statements wait while a transaction is open on the connection: they do not belong to that transaction. */
  guard(runner: SqliteRunner): SqliteRunner {
    return (tables, patience) => {
      const run = runner(tables, patience);
      return (operation, statement) =>
        run(operation, () => {
          if (this.#isOpen)
            throw Object.assign(new Error('the connection is in use'), { code: 'SQLITE_BUSY' });
          return statement();
        });
    };
  }

  /** The runner for statements and for the beginning of transactions. It makes no tables. */
  use(run: SqlRun): this {
    this.#run = run;
    return this;
  }

  async transact<T>(work: (sql: SqlExecutor) => Promise<T>): Promise<T> {
    await this.#begun('the transaction of a series', () => {
      // Locked for writing from the start, so that the work cannot be refused in the middle.
      this.#db.exec('BEGIN IMMEDIATE');
      this.#isOpen = true;
    });
    try {
      const result = await work(this.#executor(async (statement) => statement(), true));
      this.#db.exec('COMMIT');
      return result;
    } catch (error) {
      try {
        this.#db.exec('ROLLBACK');
      } catch {
        // SQLite has rolled back by itself; the first error says why.
      }
      throw error;
    } finally {
      this.#isOpen = false;
    }
  }

  #begun<T>(operation: string, statement: () => T): Promise<T> {
    return (this.#run as SqlRun)(operation, statement);
  }

  #executor(run: SqlStatement, isInside: boolean): SqlExecutor {
    return executorOf('sqlite', (text, values) => run(() => sqliteRowsOf(this.#db, text, values)), isInside);
  }
}

type SqlStatement = <T>(statement: () => T) => Promise<T>;
