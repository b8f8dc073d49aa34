export type { PostgresClient, PostgresJsClient } from './session.js';
export { type PostgresStoreOptions, postgresStore } from './store.js';
