/// <reference lib="esnext.disposable" preserve="true" />
import type { LeaseStore } from '../lease/port.js';
import type { SequenceStore } from '../sequence/port.js';
import type { SchemaVersion } from './schema-version.js';

/** A place that keeps leases and sequences. Every backend makes one. */
export interface Store extends LeaseStore, SequenceStore {
  /** The form of the data in the store. A store in memory has none, and a store of your own may do without it. */
  schemaVersion?(): Promise<SchemaVersion>;
  /** Ends the store, and its client if `openStore` made the client. A client that the caller made stays open. Idempotent. */
  close(): Promise<void>;
  /** The same as {@link close}. A store of your own may do without it. */
  [Symbol.asyncDispose]?(): Promise<void>;
}

/** A store of this library. After `close()`, or at the end of an `await using`, its methods throw a `ClosedError`. */
export interface DisposableStore extends Store {
  [Symbol.asyncDispose](): Promise<void>;
}
