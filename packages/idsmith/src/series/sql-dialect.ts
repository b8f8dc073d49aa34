import type { SqlDialect } from '../executor/port.js';

/** The differences between databases in the statements of a series. */
export interface SeriesDialect {
  /** The placeholder of the n-th value, which is text of plain letters and digits. */
  text(n: number): string;
  /** The placeholder of the n-th value, which is the text of a number. */
  integer(n: number): string;
  /** The placeholder of the n-th value, which is any text, written by {@link value}. */
  anyText(n: number): string;
  /** A value for {@link anyText}. */
  value(text: string): string;
  /** An expression as text, so that no driver rounds it. */
  asText(expression: string): string;
  /** A column of any text, as text or as the bytes of its UTF-8. */
  read(column: string): string;
  /** The end of an INSERT that leaves a row as it is which is there already. */
  readonly unlessThere: string;
  /** The end of a SELECT that locks its rows. */
  readonly forUpdate: string;
  /** The end of a SELECT that reads the newest rows and lets others read them, too. */
  readonly forShare: string;
  /** The zero of the column `exhausted`, with any type of that column. */
  readonly zero: string;
  /** A query for the database's clock, ms, as `now`. */
  readonly now: string;
  /** The types of short names, and of any text. */
  readonly nameType: string;
  readonly textType: string;
  /** The end of CREATE TABLE. */
  readonly tableOptions: string;
}

export const DIALECTS: Record<SqlDialect, SeriesDialect> = {
  postgres: {
    // PostgreSQL takes the type of a value from the column beside it.
    text: (n) => `$${n}`,
    integer: (n) => `$${n}`,
    anyText: (n) => `$${n}`,
    value: (text) => text,
    asText: (expression) => `CAST(${expression} AS text)`,
    read: (column) => column,
    unlessThere: 'ON CONFLICT DO NOTHING',
    forUpdate: ' FOR UPDATE',
    forShare: '',
    zero: "'0'",
    now: 'SELECT CAST(CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS bigint) AS text) AS now',
    nameType: 'varchar(255) COLLATE "C"',
    textType: 'text',
    tableOptions: '',
  },
  mysql: {
    text: () => '?',
    integer: () => 'CAST(? AS SIGNED)',
    // As hexadecimal digits, which every character set of a connection has.
    anyText: () => 'CONVERT(UNHEX(?) USING utf8mb4)',
    value: (text) =>
      Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0')).join(''),
    asText: (expression) => `CAST(${expression} AS CHAR)`,
    read: (column) => `CAST(CONVERT(${column} USING utf8mb4) AS BINARY)`,
    // Unlike IGNORE, this locks a row that is there for writing. A lock for reading would meet others of its kind in a deadlock.
    unlessThere: 'ON DUPLICATE KEY UPDATE name = name',
    forUpdate: ' FOR UPDATE',
    // A SELECT without a lock would fix what the rest of the transaction sees, before the wait for the number.
    forShare: ' LOCK IN SHARE MODE',
    zero: '0',
    // All in UTC: a local time would be ambiguous in the hour when summer time ends.
    now: `SELECT CAST(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000 AS CHAR) AS now`,
    nameType: 'VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin',
    textType: 'TEXT CHARACTER SET utf8mb4',
    tableOptions: ' ENGINE = InnoDB ROW_FORMAT = DYNAMIC',
  },
  sqlite: {
    text: () => '?',
    integer: () => 'CAST(? AS INTEGER)',
    anyText: () => '?',
    value: (text) => text,
    asText: (expression) => `CAST(${expression} AS TEXT)`,
    read: (column) => column,
    unlessThere: 'ON CONFLICT DO NOTHING',
    forUpdate: '',
    forShare: '',
    zero: '0',
    now: `SELECT CAST(CAST(round((julianday('now') - 2440587.5) * 86400000) AS INTEGER) AS TEXT) AS now`,
    nameType: 'TEXT',
    textType: 'TEXT',
    tableOptions: '',
  },
};
