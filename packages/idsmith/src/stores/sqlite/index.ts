export { type SqliteDatabase, type SqliteStoreOptions, type SqliteValue, sqliteStore } from './store.js';
