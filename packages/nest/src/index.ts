export { type IdsHealth, IdsHealthIndicator } from './health.js';
export { InjectIdGenerator, InjectIds, idGeneratorToken } from './inject.js';
export { type IdsmithDynamicModule, IdsmithModule } from './module.js';
export type { IdGenerators, IdsmithAsyncOptions, IdsmithConnection, IdsmithOptions } from './options.js';
