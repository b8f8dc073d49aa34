/// <reference lib="esnext.disposable" preserve="true" />
import type { SqlExecutor } from '../drivers/port.js';
import type { LeaseStore } from '../lease/port.js';
import type { SequenceStore } from '../sequence/port.js';
import type { SchemaVersion } from './schema-version.js';
import type { Witness } from './witness.js';

/** A place that keeps leases and sequences. Every backend makes one. */
export interface Store extends LeaseStore, SequenceStore {
  /** The form of the data in the store. A store in memory has none, and a store of your own may do without it. */
  schemaVersion?(): Promise<SchemaVersion>;
  /** The database, if the store is in an SQL database and can have a connection for a transaction. */
  readonly sql?: SqlAccess;
  /** What this process remembers of the store's numbers. Every store of this library has it. */
  readonly witness?: Witness;
  /** The lineage that the store has told last; `undefined` until then, and if it cannot tell. */
  readonly lineage?: string | undefined;
  /** Ends the store, and its client if `openStore` made the client. A client that the caller made stays open. Idempotent. */
  close(): Promise<void>;
  /** The same as {@link close}. A store of your own may do without it. */
  [Symbol.asyncDispose]?(): Promise<void>;
}

/** A store of this library. After `close()`, or at the end of an `await using`, its methods throw a `ClosedError`. */
export interface DisposableStore extends Store {
  [Symbol.asyncDispose](): Promise<void>;
}

/** The database of a store, for work that must be one transaction with the numbers it takes. */
export interface SqlAccess {
  /** Sends statements outside of transactions. */
  readonly outside: SqlExecutor;
  /** The lineage of the database as an SQL expression, for statements on `id_sequences`; `undefined` if it is unknown. */
  readonly lineage?: string | undefined;
  /** Runs `work` in a transaction of its own, and commits. An error rolls back. */
  transact<T>(work: (sql: SqlExecutor) => Promise<T>): Promise<T>;
}
