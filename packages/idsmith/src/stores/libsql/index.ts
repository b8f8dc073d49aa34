export type { RemoteSqliteOptions } from '../sqlite/remote.js';
export { type LibsqlClient, libsqlStore } from './store.js';
