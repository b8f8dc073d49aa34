export type { PostgresClient } from './client.js';
export { type PostgresStoreOptions, postgresStore } from './store.js';
