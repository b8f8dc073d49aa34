import type { SqlAdapter, SqlDialect, SqlValue } from './port.js';

/** A connection that somebody has for a while. Exactly one of its methods is called. */
export interface Borrowed<C> {
  readonly connection: C;
  /** Gives the connection back. */
  release(): void;
  /** Ends the connection: a statement may still be running on it. */
  destroy(): void;
}

/** The outcome of a change, as MySQL tells it. */
export interface SqlChange {
  readonly affectedRows: unknown;
  readonly insertId: unknown;
  readonly serverStatus?: unknown;
}

/** A client of a known driver, or an adapter of the user's own, as stores use it. */
export interface SqlDriver extends SqlAdapter {
  /** Lends a connection of the pool, or the only one. Known drivers have this; adapters of users do not. */
  borrow?(): Promise<Borrowed<SqlDriver>>;
  /** The object of the user's own that this is the driver of, if stores on the same object take turns. */
  readonly client?: object;
  /** True for a pool, whose connections nobody else uses while they are lent. */
  readonly isPool?: boolean;
  /**
   * True for a transaction that fails once it has ended, so that SQLite need not be asked whether it is open. The question is a statement
   * that fails inside a transaction, and Prisma takes statements that it sends together with a failing one for done.
   */
  readonly isBound?: boolean;
  /** Sends a statement to MySQL, and gives its rows or the outcome of its change. */
  answer?(text: string, values: readonly SqlValue[]): Promise<unknown[] | SqlChange>;
}

/** The driver of somebody else's object, if the object is recognised by its members. */
export type Recogniser = (client: Foreign) => SqlDriver | undefined;

/** The answer of a pool, which has a connection for each statement: no transaction is open. */
export const never = () => false;

/** Lends a single connection to one statement at a time, so that a statement whose caller has given up is not left in its queue. */
export function oneAtATime<C>(connection: C): () => Promise<Borrowed<C>> {
  let last: Promise<void> = Promise.resolve();
  return async () => {
    const before = last;
    let release = () => {};
    last = new Promise((resolve) => {
      release = resolve;
    });
    await before;
    return { connection, release, destroy: () => {} };
  };
}

/** Lends a client that keeps several statements apart by itself. */
export function atAnyTime<C>(connection: C): () => Promise<Borrowed<C>> {
  return async () => ({ connection, release() {}, destroy() {} });
}

/** An object that somebody else made. Its members may be missing, and be anything. */
export interface Foreign {
  readonly [member: PropertyKey]: unknown;
  readonly rows?: unknown;
  readonly totalCount?: unknown;
  readonly dialect?: unknown;
  readonly client?: unknown;
  readonly options?: unknown;
  readonly type?: unknown;
  readonly finished?: unknown;
  readonly isTransaction?: unknown;
  readonly isTransactionActive?: unknown;
  readonly queryRunner?: unknown;
  readonly dataSource?: unknown;
  readonly connection?: unknown;
  readonly sequelize?: unknown;
  readonly supportsOutput?: unknown;
  readonly supportsReturning?: unknown;
  readonly supportsTransactionalDdl?: unknown;
  readonly _activeProvider?: unknown;
  readonly code?: unknown;
  readonly errno?: unknown;
  readonly message?: unknown;
  readonly cause?: unknown;
  readonly original?: unknown;
  readonly driverError?: unknown;
}

/** True if `value` has members: an object, or a function with members as some drivers have. */
export const isForeign = (value: unknown): value is Foreign =>
  (typeof value === 'object' && value !== null) || typeof value === 'function';

/** Tells whether `value` has methods of all these names. */
export const hasMethods = (value: unknown, ...names: string[]): value is Foreign =>
  isForeign(value) && names.every((name) => typeof value[name] === 'function');

/** The result of a method that is known by its name only. */
export const call = (object: Foreign, method: string, ...args: unknown[]): unknown =>
  (object[method] as (...args: unknown[]) => unknown).apply(object, args);

/** The rows in a driver's answer: a list of rows, an answer with `rows`, or a list of rows followed by their fields. */
export function rowsIn(answer: unknown): unknown[] {
  if (isForeign(answer) && Array.isArray(answer.rows)) return answer.rows;
  return Array.isArray(answer) ? answer : [];
}

/** The rows in an answer of `mysql2`, which is a list: the rows or the outcome of a change, and the fields. */
export const firstRows = (answer: unknown) => rowsIn((answer as unknown[])[0]);

/** Tells whether a statement gives rows. Some drivers have one method for these, and another one for all others. */
export function givesRows(text: string): boolean {
  return /^\s*(SELECT|WITH|VALUES|SHOW|PRAGMA\s+\w+\s*$)|\bRETURNING\b/i.test(text);
}

/** The placeholders of both notations, and the quotes and comments that may hold something like them. */
const PARTS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\/\*[\s\S]*?\*\/|--[^\n]*|\$(\d+)|\?/g;

/**
 * A statement with other placeholders.
 *
 * @param place gives the placeholder of the n-th value, n from 1
 * @param quoted writes a quote, a comment or an operator, so that nothing in it is taken for a placeholder
 */
export function withPlaceholders(
  text: string,
  dialect: SqlDialect,
  place: (n: number) => string,
  quoted: (part: string) => string,
): string {
  let count = 0;
  return text.replace(PARTS, (part, n?: string) => {
    if (dialect === 'postgres') return n === undefined ? quoted(part) : place(Number(n));
    return part === '?' ? place(++count) : quoted(part);
  });
}
