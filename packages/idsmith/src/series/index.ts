export type { GivenNumber } from './audit-log.js';
export type { ParsedNumber } from './format.js';
export type { ListOptions, NextOptions, SeriesOptions, VoidOptions } from './options.js';
export type { Period } from './period.js';
export { Series, type StandaloneSeriesOptions, series } from './series.js';
