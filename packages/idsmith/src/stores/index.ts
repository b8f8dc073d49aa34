export { initStore, markRestored, type Restored } from './init.js';
export { openStore } from './open.js';
export type { SchemaVersion } from './schema-version.js';
export type { DisposableStore, Store } from './store.js';
