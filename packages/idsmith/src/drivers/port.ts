/** A family of SQL databases. MariaDB is `'mysql'`; libSQL and Turso are `'sqlite'`. */
export type SqlDialect = 'postgres' | 'mysql' | 'sqlite';

/** A value of a statement. Every driver sends these types alike. Write a number as text: `String(number)`. */
export type SqlValue = string | null;

/**
 * A way to send SQL on one connection, one pool or one transaction. {@link sqlExecutor} makes an executor of a driver's client or of
 * an ORM's transaction.
 */
export interface SqlExecutor {
  readonly dialect: SqlDialect;
  /**
   * Sends one statement and gives its rows, as objects. A statement that gives no rows gives an empty list.
   *
   * Placeholders are `$1`, `$2` … for `'postgres'`, and `?` for the others, where quotes and comments must not have a `?`. Drivers round numbers and rename columns in their own ways:
   * select numbers as text, and name columns by one word in lower case.
   *
   * @throws the driver's own error
   */
  query(text: string, values?: readonly SqlValue[]): Promise<Record<string, unknown>[]>;
  /**
   * Tells whether a transaction is open. Asks the database, and does not change the transaction.
   *
   * @throws the driver's own error, as when the transaction has failed before
   */
  inTransaction(): Promise<boolean>;
}

/** An executor of your own, for a driver that {@link sqlExecutor} does not know. */
export interface SqlAdapter {
  readonly dialect: SqlDialect;
  /** Sends one statement, and gives its rows. Inside a transaction, each on the same connection. See {@link SqlExecutor.query}. */
  query(text: string, values: readonly SqlValue[]): Promise<readonly unknown[]>;
  /** Tells whether this is a transaction, if you know. The database is asked as well, unless the answer is `false`. */
  inTransaction?(): Promise<boolean> | boolean;
  /**
   * Runs `work` in a transaction of its own, with an adapter of the transaction's connection. Commits before it answers, or rolls back if
   * `work` fails. Stores need this method.
   */
  transaction?(work: (transaction: SqlAdapter) => Promise<void>): Promise<unknown>;
}
