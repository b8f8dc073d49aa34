export type { MysqlCallbackClient, MysqlClient } from './client.js';
export { type MysqlStoreOptions, mysqlStore } from './store.js';
