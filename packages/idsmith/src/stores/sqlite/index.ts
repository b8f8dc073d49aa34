export type { SqliteDatabase, SqliteValue } from './connection.js';
export { sqliteStore } from './store.js';
