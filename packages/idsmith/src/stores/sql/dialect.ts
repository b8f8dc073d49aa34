import type { SqlDialect, SqlValue } from '../../drivers/port.js';
import { MYSQL_DATABASE, NAME_TRANSACTION, TRANSACTION_NAMED } from '../../drivers/transaction.js';
import { bytesToHex } from '../../encoding/hex.js';
import type { Move } from '../../sequence/blocks.js';

/** The differences between databases in the statements on leases, sequences and the log of a series. */
export interface Dialect {
  /** The placeholder of the n-th value, which is the text of a number. */
  integer(n: number): string;
  /** The expression of a name: a placeholder, after `add` has made the name a value and told its number, or a literal. */
  name(name: string, add: (value: string) => number): string;
  /** The placeholder of the n-th value, which is any text, written by {@link encode}. */
  anyText(n: number): string;
  encode(text: string): string;
  /** The placeholder of the n-th value, which is text of a column that compares bytes, written by {@link encode}. */
  bytes(n: number): string;
  /** A condition that a column equals a value, which may be null on both sides. */
  same(column: string, value: string): string;
  /** A column of any text, as text or as the bytes of its UTF-8. */
  decoded(column: string): string;
  /** An expression as text, so that no driver rounds it. */
  asText(expression: string): string;
  /** The column `name` as text, or as the bytes of its UTF-8. */
  readonly nameText: string;
  /** An expression that is true for an exhausted row, with any type of that column; null if the column is null. */
  readonly isExhausted: string;
  /** An expression of the database's clock, ms, as text. */
  readonly clock: string;
  /** The end of a SELECT that locks its rows until the transaction ends. */
  readonly forUpdate: string;
  /** The end of a SELECT that keeps its rows as they are until the transaction ends, and lets others do the same. */
  readonly forShare: string;
  /** A condition of a change that is a transaction of its own; empty where the store's own BEGIN fails inside a transaction. */
  readonly outsideTransaction: string;
  /** What a statement on the caller's connection finds out about the caller's transaction. */
  readonly transaction: {
    /** An expression that names the transaction (PostgreSQL), or is 1 if one is open and the database says so (MariaDB). */
    readonly name: string;
    /** An expression of the database among those of all servers, where locks on missing rows matter. */
    readonly database: string;
    /** A condition that the transaction of that name is still open, to go after others. */
    isOpen(values: Values, name: string): string;
  };
  /** The row of values in an INSERT, with a condition if there is one. */
  row(values: string, condition: string): string;
  /** The end of an INSERT in a transaction of the caller's that leaves a row as it is which is there already. */
  readonly unlessThere: string;
  /** The end of an INSERT of the store's own, where a duplicate is told by an error if not by this. */
  readonly inserted: string;
  /** The end of an update that makes it give `next_block_start`. Empty if updates give no rows. */
  readonly updated: string;
  /** The end of a change that makes it give a row for each row that is changed. */
  readonly returning: string;
  /** The end of the assignments of an update on leases, so that every update changes its row. */
  readonly touched: string;
  /** The new value of `next_block_start` in an update of the store's own, by the expression `next`. The old one is at least `low`. */
  moved(low: () => string, next: () => string): string;
  /** The `next_block_start` before an update of the store's own, by the first value in the row that the update gave. */
  before(answer: bigint, move: Move): bigint;
  /** The longest way of `next_block_start` that an update can tell. */
  readonly reach?: bigint;
  /** The statement that gives a column of `id_sequences` another definition. */
  widening(column: string, definition: string): string;
  readonly types: {
    /** The type of the names of sequences. */
    readonly name: string;
    readonly text: string;
    /** The type of texts that are compared byte by byte. */
    readonly bytes: string;
    /** The text after each column that idsmith adds to `id_sequences`. */
    readonly own: string;
    /** The end of CREATE TABLE. */
    readonly options: string;
  };
}

/** Text as the digits of its bytes, for `UNHEX` or `X'…'`: no character set and no quoting rule changes them. */
const hexOf = (text: string) => bytesToHex(new TextEncoder().encode(text));

const asItIs = (text: string) => text;

export const postgres: Dialect = {
  // PostgreSQL takes the type of a value from the column beside it.
  integer: (n) => `$${n}`,
  name: (name, add) => `$${add(name)}`,
  anyText: (n) => `$${n}`,
  encode: asItIs,
  bytes: (n) => `$${n}`,
  same: (column, value) => `${column} IS NOT DISTINCT FROM ${value}`,
  decoded: asItIs,
  asText: (expression) => `CAST(${expression} AS text)`,
  // Without the spaces that fill up a CHAR.
  nameText: 'CAST(name AS text)',
  // Quoted, this is 0 in any type of number, and false in a boolean.
  isExhausted: `exhausted <> '0'`,
  clock: 'CAST(CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS bigint) AS text)',
  forUpdate: ' FOR UPDATE',
  forShare: ' FOR SHARE',
  // Both begin at the same moment. A statement inside an open transaction begins later than the transaction. The condition works only
  // for a statement that is sent as one message. A statement with parameters is sent as several messages, and the first of them
  // begins the transaction.
  outsideTransaction: 'transaction_timestamp() = statement_timestamp()',
  transaction: {
    name: NAME_TRANSACTION,
    database: 'NULL',
    isOpen: (values, name) => ` AND ${TRANSACTION_NAMED} = ${values.text(name)}`,
  },
  row: (values, condition) => `SELECT ${values}${condition && ` WHERE ${condition}`}`,
  unlessThere: ' ON CONFLICT DO NOTHING RETURNING 1',
  inserted: ' ON CONFLICT DO NOTHING RETURNING 1',
  updated: ' RETURNING CAST(next_block_start AS text)',
  returning: ' RETURNING 1',
  touched: '',
  moved: (_low, next) => next(),
  before: (after, { delta }) => after - delta,
  widening: (column, definition) =>
    `ALTER TABLE id_sequences ALTER COLUMN ${column} TYPE ${definition.split(' ', 1)[0]}`,
  types: {
    name: 'VARCHAR(255) COLLATE "C"',
    text: 'text',
    bytes: 'text COLLATE "C"',
    own: '',
    options: '',
  },
};

/**
 * MySQL and MariaDB, where an update gives no rows. An update gives the number in `LAST_INSERT_ID`. Here this number is the distance of
 * `next_block_start` from `low`, plus one; 0 means that no row was found. The number is exact with every setting of the driver, and
 * also correct for an update that changed nothing. Its value on a caller's connection must stay.
 */
export const mysql: Dialect = {
  integer: () => 'CAST(? AS SIGNED)',
  // Bytes are sent unchanged. Declared as UTF-8, they are compared by the rules of the column, with its index.
  name: (name) => `_utf8mb4 X'${hexOf(name)}'`,
  // As hexadecimal digits, which every character set of a connection has.
  anyText: () => 'CONVERT(UNHEX(?) USING utf8mb4)',
  encode: hexOf,
  bytes: () => 'UNHEX(?)',
  same: (column, value) => `${column} <=> ${value}`,
  decoded: (column) => `CAST(CONVERT(${column} USING utf8mb4) AS BINARY)`,
  asText: (expression) => `CAST(${expression} AS CHAR)`,
  nameText: 'CAST(CONVERT(name USING utf8mb4) AS BINARY)',
  isExhausted: 'exhausted <> 0',
  // All in UTC: a local time would be ambiguous in the hour when summer time ends.
  clock: `CAST(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 AS CHAR)`,
  forUpdate: ' FOR UPDATE',
  forShare: ' LOCK IN SHARE MODE',
  // As far as the server tells. MySQL skips the comment, and tells of an open transaction only in its answer.
  outsideTransaction: '@@autocommit = 1 /*M!100300 AND @@in_transaction = 0 */',
  transaction: {
    name: `CONCAT('' /*M!100300 , @@in_transaction */)`,
    database: MYSQL_DATABASE,
    isOpen: () => '',
  },
  row: (values, condition) =>
    condition === '' ? `VALUES (${values})` : `SELECT ${values} FROM DUAL WHERE ${condition}`,
  // Unlike IGNORE, this locks a row that is there for writing. A lock for reading would meet others of its kind in a deadlock.
  unlessThere: ' ON DUPLICATE KEY UPDATE name = name',
  inserted: '',
  updated: '',
  returning: '',
  // Without the flag FOUND_ROWS, an update that changes nothing counts as an update that found nothing.
  touched: ', swaps = swaps + 1',
  moved: (low, next) => `IF(LAST_INSERT_ID(next_block_start - ${low()} + 1), ${next()}, 0)`,
  before: (answer, { low }) => low + answer - 1n,
  // In either direction. The distance must fit a number.
  reach: 2n ** 52n - 1n,
  widening: (column, definition) => `ALTER TABLE id_sequences MODIFY ${column} ${definition}`,
  types: {
    name: 'VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
    text: 'TEXT CHARACTER SET utf8mb4',
    bytes: 'VARBINARY(1020)',
    // Other programs insert four values without naming the columns. Invisible columns let them go on to do so. MySQL has such
    // columns since 8.0.23, MariaDB since 10.3. MariaDB skips the first of these comments.
    own: ' /*!80023 INVISIBLE *//*M!100300 INVISIBLE */',
    options: ' ENGINE = InnoDB ROW_FORMAT = DYNAMIC',
  },
};

/** SQLite. Numbers are bound as text, which all drivers do alike, and cast back to numbers. */
export const sqlite: Dialect = {
  integer: () => 'CAST(? AS INTEGER)',
  name: (name, add) => {
    add(name);
    return '?';
  },
  anyText: () => '?',
  encode: asItIs,
  bytes: () => '?',
  same: (column, value) => `${column} IS ${value}`,
  decoded: asItIs,
  asText: (expression) => `CAST(${expression} AS TEXT)`,
  nameText: 'name',
  isExhausted: 'CAST(exhausted AS INTEGER) <> 0',
  // Julian days; 2440587.5 is the start of 1970. SQLite's clock has whole milliseconds, so rounding restores them.
  clock: `CAST(CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) AS TEXT)`,
  forUpdate: '',
  forShare: '',
  outsideTransaction: '',
  transaction: { name: 'NULL', database: 'NULL', isOpen: () => '' },
  row: (values, condition) =>
    condition === '' ? `VALUES (${values})` : `SELECT ${values} WHERE ${condition}`,
  unlessThere: ' ON CONFLICT DO NOTHING RETURNING 1',
  inserted: ' ON CONFLICT DO NOTHING RETURNING 1',
  updated: ' RETURNING CAST(next_block_start AS TEXT)',
  returning: ' RETURNING 1',
  touched: '',
  moved: (_low, next) => next(),
  before: (after, { delta }) => after - delta,
  // Columns of SQLite hold any number.
  widening: () => '',
  types: { name: 'VARCHAR(255)', text: 'TEXT', bytes: 'TEXT', own: '', options: '' },
};

export const DIALECTS: Record<SqlDialect, Dialect> = { postgres, mysql, sqlite };

/** The values of a statement that is being built. Each method adds a value and gives its placeholder. */
export class Values {
  readonly all: SqlValue[] = [];
  readonly #dialect: Dialect;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  name(name: string): string {
    return this.#dialect.name(name, (value) => this.all.push(value));
  }

  text(text: string): string {
    return this.#dialect.anyText(this.all.push(this.#dialect.encode(text)));
  }

  bytes(text: string | null): string {
    return this.#dialect.bytes(this.all.push(text === null ? null : this.#dialect.encode(text)));
  }

  /** Adds a number as text: drivers round numbers, or do not accept a bigint. */
  integer(value: bigint | number | boolean | undefined): string {
    const text = value === undefined ? null : String(typeof value === 'boolean' ? Number(value) : value);
    return this.#dialect.integer(this.all.push(text));
  }
}

/** A statement and its values. */
export interface Statement {
  readonly sql: string;
  readonly values: SqlValue[];
}

/** Runs a statement, which is built after the table is set up, and converts its rows with `make`. Messages name `what`. */
export type RunStatement = <T>(
  what: string,
  build: () => Statement,
  make: (rows: readonly unknown[]) => T,
) => Promise<T>;
