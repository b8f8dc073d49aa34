export { openStore } from './open.js';
export type { DisposableStore, Store } from './store.js';
