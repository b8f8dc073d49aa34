import type { LeaseStore } from '../lease/port.js';
import type { SequenceStore } from '../sequence/port.js';

/** A place that keeps leases and sequences. Every backend makes one. */
export interface Store extends LeaseStore, SequenceStore {
  /** Ends the client if `openStore` made it. A client that the caller made stays open. */
  close(): Promise<void>;
}
