export { type LibsqlClient, libsqlStore } from './store.js';
