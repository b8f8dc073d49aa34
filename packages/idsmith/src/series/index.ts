export type { GivenNumber } from './audit-log.js';
export type { ParsedNumber, Period } from './format.js';
export {
  type ListOptions,
  type NextArguments,
  type NextOptions,
  Series,
  type SeriesOptions,
  type StandaloneSeriesOptions,
  series,
  type VoidOptions,
} from './series.js';
