export type { GivenNumber } from './audit-log.js';
export type { ParsedNumber } from './format.js';
export type { Period } from './period.js';
export {
  type ListOptions,
  type NextOptions,
  Series,
  type SeriesOptions,
  type StandaloneSeriesOptions,
  series,
  type VoidOptions,
} from './series.js';
