export type { GivenNumber } from '../series/audit-log.js';
export type { ParsedNumber } from '../series/format.js';
export type { ListOptions, NextOptions, SeriesOptions, VoidOptions } from '../series/options.js';
export type { Period } from '../series/period.js';
export type { Series } from '../series/series.js';
export { connect } from './connect.js';
export { Ids } from './ids.js';
export type {
  ConnectOptions,
  FlakesOptions,
  IdsStatus,
  LeasedLocalityOptions,
  LeasedUuid7Options,
  LeaseStatus,
  SequenceOpening,
} from './options.js';
