export type { SqliteDatabase, SqliteValue } from './session.js';
export { type SqliteStoreOptions, sqliteStore } from './store.js';
