export type { OracleStoreConnection, OracleStorePool } from './client.js';
export { type OracleStoreOptions, oracleStore } from './store.js';
