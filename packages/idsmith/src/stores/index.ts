export type { Store } from './memory/store.js';
export { openStore } from './open.js';
