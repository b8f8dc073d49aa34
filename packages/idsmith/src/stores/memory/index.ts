export type { DisposableStore, Store } from '../store.js';
export { memoryStore } from './store.js';
