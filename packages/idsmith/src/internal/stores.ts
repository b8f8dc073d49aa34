// Parts of stores and leases, for packages with a store of their own and for the one that tries stores. Not public: names
// change without notice, and each of those packages asks for exactly this version.

import { Lease } from '../lease/lease.js';
import { longestTtl, rememberLimit } from '../lease/namespace-store.js';
import { type LeaseOptions, leaseSettings } from '../lease/options.js';
import type { LeaseRecord, LeaseStore } from '../lease/port.js';

export { atAnyTime, type Borrowed } from '../drivers/driver.js';
export { requireNamespace, STORE_NAMESPACE, TRIAL } from '../lease/namespace.js';
export type { LeaseRecord, LeaseStore } from '../lease/port.js';
export { canMove, MAX_ID, MIN_ID, type SequenceRow } from '../sequence/blocks.js';
export type { BlockSource } from '../sequence/port.js';
export { isLike, type SequenceRows, sequenceStore } from '../sequence/rows.js';
export { makeStore, type OwnClient } from '../stores/make-store.js';
export { type NativeSequenceOptions, nativeSource, sequenceNameOf } from '../stores/native/source.js';
export type { NatMap } from '../stores/redis/groups.js';
export { groupAddresses, openRedis, redisInfo } from '../stores/redis/open.js';
export { SchemaGate, type SchemaMarker, schemaOf } from '../stores/schema-version.js';
export { signedBlockSize } from '../stores/sql/columns.js';
export { leaseRecord } from '../stores/sql/leases.js';
export { called, NUMBERS, sequenceRow } from '../stores/sql/sequences.js';
export {
  onPooledConnection,
  type SqlRun,
  type SqlStoreOptions,
  sqlRunner,
  sqlTimeout,
} from '../stores/sql/session.js';
export { onlyInteger, plainText } from '../stores/sql/values.js';
export type { DisposableStore } from '../stores/store.js';
export { addressOf, requireServerUrl, schemeOf } from '../stores/url.js';
export { reasonOf } from '../support/store-error.js';
export { withTimeout } from '../support/timeout.js';

/** A lease in the memory of a process. */
export interface LeaseMemory {
  readonly record: LeaseRecord;
  /** The beginning of the window. */
  readonly from: number;
  /** The longest ttl of the namespace, as far as the process has seen it. */
  readonly limit: number;
}

/** The lease of another process, as a process has it that is a copy of that one, memory included. */
export function continueLease(
  store: LeaseStore,
  options: LeaseOptions,
  { record, from, limit }: LeaseMemory,
): Lease {
  const settings = leaseSettings(store, options);
  // Else the copy of a process with a low limit founds a lost namespace too early, and with a limit that keeps the others out.
  rememberLimit(settings, { ...record, epoch: limit, fence: 0 });
  const unknown = {
    layout: undefined,
    lineage: undefined,
    floor: undefined,
    readAt: Number.NEGATIVE_INFINITY,
    notedAt: undefined,
  };
  return new Lease(settings, { record, from, ttl: settings.ttl, wasEmpty: false, ...unknown });
}

/** The longest ttl of a namespace, as far as this process has seen it. */
export function longestTtlOf(store: LeaseStore, options: LeaseOptions): number {
  return longestTtl(leaseSettings(store, options));
}
