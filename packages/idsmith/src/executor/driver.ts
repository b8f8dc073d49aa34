import type { SqlAdapter, SqlValue } from './port.js';
import type { Foreign } from './shapes.js';

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
  /** True for a pool, whose connections nobody else uses while they are lent. */
  readonly isPool?: boolean;
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
