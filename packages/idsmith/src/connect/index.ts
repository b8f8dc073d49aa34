export type { GivenNumber } from '../series/audit-log.js';
export type { ParsedNumber } from '../series/format.js';
export type { Period } from '../series/period.js';
export type { ListOptions, NextOptions, Series, SeriesOptions, VoidOptions } from '../series/series.js';
export { connect, Ids } from './ids.js';
export type {
  ConnectOptions,
  FlakesOptions,
  IdsStatus,
  LeasedLocalityOptions,
  LeasedUuid7Options,
  LeaseStatus,
  MissingLease,
  SequenceOpening,
} from './options.js';
