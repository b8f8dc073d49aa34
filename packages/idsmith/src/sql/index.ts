export type { SqlAdapter, SqlDialect, SqlExecutor, SqlValue } from '../drivers/port.js';
export { sqlExecutor } from '../drivers/recognise.js';
export {
  type GivenNumber,
  type ListOptions,
  type NextArguments,
  type NextOptions,
  type ParsedNumber,
  type Period,
  Series,
  type SeriesOptions,
  type StandaloneSeriesOptions,
  series,
  type VoidOptions,
} from '../series/index.js';
export { type GaplessTransaction, gapless } from '../stores/sql/gapless.js';
