// Parts of stores and leases, for packages with a store of their own and for the one that tries stores. Not public: names
// change without notice, and each of those packages asks for exactly this version.

export { atAnyTime, type Borrowed } from '../drivers/driver.js';
export { requireNamespace, STORE_NAMESPACE, TRIAL } from '../lease/namespace.js';
export type { LeaseRecord, LeaseStore } from '../lease/port.js';
export { canMove, MAX_ID, MIN_ID, type SequenceRow } from '../sequence/blocks.js';
export type { BlockSource } from '../sequence/port.js';
export { isLike, type SequenceRows, sequenceStore } from '../sequence/rows.js';
export { type NativeSequenceOptions, nativeSource, sequenceNameOf } from '../stores/native/source.js';
export { redisInfo } from '../stores/redis/info.js';
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
export { makeStore, type OwnClient } from '../stores/store.js';
export { addressOf, requireServerUrl, schemeOf } from '../stores/url.js';
export { reasonOf } from '../support/store-error.js';
export { withTimeout } from '../support/timeout.js';
export { continueLease, type LeaseMemory, longestTtlOf } from './continue-lease.js';
