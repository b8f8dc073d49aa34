export { initStore, markRestored, type Restored } from './init.js';
export { openStore } from './open.js';
