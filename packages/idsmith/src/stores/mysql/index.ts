export type { MysqlCallbackClient, MysqlClient } from './session.js';
export { type MysqlStoreOptions, mysqlStore } from './store.js';
