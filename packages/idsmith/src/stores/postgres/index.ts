export type { PostgresClient, PostgresJsClient } from './client.js';
export { type PostgresStoreOptions, postgresStore } from './store.js';
