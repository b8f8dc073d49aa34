export { type HttpStoreOptions, httpStore } from './store.js';
