export type { EtcdStoreOptions } from './connection.js';
export { etcdStore } from './store.js';
