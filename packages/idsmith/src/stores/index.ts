export { openStore } from './open.js';
export type { Store } from './store.js';
