export type { Store } from './memory.js';
export { openStore } from './open.js';
