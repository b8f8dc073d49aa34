export { type Clock, systemClock } from './clock.js';
export {
  ClockError,
  ClosedError,
  type ErrorCode,
  type ErrorEntry,
  errorTable,
  IdError,
  InvalidIdError,
  InvalidOptionError,
  LeaseFencedError,
  LeasesExhaustedError,
  NoSuchSequenceError,
  SequenceExhaustedError,
  SequenceExistsError,
  StoreError,
  TimeExhaustedError,
  UnsafeIntegerError,
} from './errors.js';
export { FlakeGenerator } from './flake/generator.js';
export {
  type DecodedFlake,
  defineLayout,
  type FlakeField,
  type Layout,
  type LayoutOptions,
} from './flake/layout.js';
export { layouts } from './flake/layouts.js';
export type { LeasedFlakeOptions } from './flake/leased.js';
export type { FlakeOptions, SharedFlake } from './flake/options.js';
export { acquireLease } from './lease/acquire-lease.js';
export type { LeaseEvent, LeaseEvents } from './lease/events.js';
export { Lease } from './lease/lease.js';
export type { NodeWait } from './lease/node-wait.js';
export type { LeaseLayout, LeaseOptions } from './lease/options.js';
export type { LeaseRecord, LeaseStore } from './lease/port.js';
export type { LeaseWait } from './lease/waiters.js';
export { LocalityGenerator } from './locality/generator.js';
export type { LocalityFormat, LocalityFormat as Flavour } from './locality/layout.js';
export type { LocalityNode, NodeSource } from './locality/node.js';
export type { LocalityMode, LocalityOptions, Reversal, SharedLocality } from './locality/options.js';
export type { SeedWindow } from './locality/seed.js';
export { LocalityUuid } from './locality/uuid.js';
export { type RandomSource, systemRandom } from './random.js';
export type { MachineNode } from './runtime/machine.js';
export type { MakeSource, NamedSource } from './sequence/implementations.js';
export type {
  Block,
  BlockSource,
  SequenceChanges,
  SequenceDefinition,
  SequenceInfo,
  SequenceOptions,
  SequenceStore,
} from './sequence/port.js';
export type { Prefetch } from './sequence/prefetch.js';
export type { Sequence } from './sequence/sequence.js';
export { type SequenceStores, Sequences, type SequenceUse } from './sequence/sequences.js';
export type { SequenceStatus } from './sequence/status.js';
export type { SequenceTime } from './sequence/surplus.js';
export type { SequenceWait } from './sequence/wait.js';
export { type GaplessTransaction, gapless } from './stores/gapless.js';
export { memoryStore } from './stores/memory/store.js';
export { mariadbSequence } from './stores/mysql/native.js';
export { type OracleConnection, type OraclePool, oracleSequence } from './stores/oracle/native.js';
export { postgresSequence } from './stores/postgres/native.js';
export type { SchemaVersion } from './stores/schema-version.js';
export type { NativeSequenceOptions } from './stores/sql/native-source.js';
export type { DisposableStore, Store } from './stores/store.js';
export type { Timer } from './support/timer.js';
export { Uuid7Generator } from './uuid7/generator.js';
export type { SharedUuid7, Uuid7Options } from './uuid7/options.js';
