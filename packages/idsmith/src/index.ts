export { type Clock, systemClock } from './clock.js';
export {
  ClockError,
  ClosedError,
  type ErrorCode,
  IdError,
  InvalidIdError,
  InvalidOptionError,
  LeaseFencedError,
  LeasesExhaustedError,
  NoSuchSequenceError,
  SequenceExhaustedError,
  SequenceExistsError,
  StoreError,
  StoreWentBackError,
  TimeExhaustedError,
  UnsafeIntegerError,
} from './errors.js';
export { FlakeGenerator } from './flake/generator.js';
export { defineLayout, type Layout } from './flake/layout.js';
export { layouts } from './flake/layouts.js';
export { leaseFlakes } from './flake/leased.js';
export type { FlakeOptions, LeasedFlakeOptions, SharedFlake } from './flake/options.js';
export { acquireLease, Lease } from './lease/lease.js';
export type { NodeWait } from './lease/node-wait.js';
export type { LeaseOptions } from './lease/options.js';
export type { LeaseRecord, LeaseStore } from './lease/port.js';
export { LocalityGenerator } from './locality/generator.js';
export type { LocalityMode, LocalityOptions, SharedLocality } from './locality/options.js';
export { LocalityUuid } from './locality/uuid.js';
export type { IdForm } from './options.js';
export type { RandomSource } from './random.js';
export type {
  Block,
  BlockSource,
  SequenceChanges,
  SequenceDefinition,
  SequenceInfo,
  SequenceOptions,
  SequenceStore,
} from './sequence/port.js';
export type { Sequence } from './sequence/sequence.js';
export { Sequences } from './sequence/sequences.js';
export { memoryStore } from './stores/memory/store.js';
export { mariadbSequence } from './stores/native/mariadb.js';
export { postgresSequence } from './stores/native/postgres.js';
export type { NativeSequenceOptions } from './stores/native/source.js';
export type { SchemaVersion } from './stores/schema-version.js';
export { gapless } from './stores/sql/gapless.js';
export type { DisposableStore, Store } from './stores/store.js';
export type { Timer } from './support/timer.js';
export { enableThreads } from './threads.js';
export { type SharedUuid7, Uuid7Generator, type Uuid7Options } from './uuid7/generator.js';
