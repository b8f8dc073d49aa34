export type { OracleStoreConnection, OracleStorePool } from './client.js';
export { type OracleConnection, type OraclePool, oracleSequence } from './native.js';
export { type OracleStoreOptions, openOracle, oracleStore } from './store.js';
