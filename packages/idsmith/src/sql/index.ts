export type { SqlAdapter, SqlDialect, SqlExecutor, SqlValue } from '../executor/port.js';
export { sqlExecutor } from '../executor/recognise.js';
export {
  type GivenNumber,
  type ListOptions,
  type NextOptions,
  type ParsedNumber,
  type Period,
  Series,
  type SeriesOptions,
  type StandaloneSeriesOptions,
  series,
  type VoidOptions,
} from '../series/index.js';
export { type GaplessTransaction, gapless } from '../stores/gapless.js';
