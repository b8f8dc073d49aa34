export type { OracleStoreConnection, OracleStorePool } from './client.js';
export { type OracleConnection, type OraclePool, oracleSequence } from './native.js';
export { openOracle } from './open.js';
export { type OracleStoreOptions, oracleStore } from './store.js';
