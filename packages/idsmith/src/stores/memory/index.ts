export type { Store } from '../store.js';
export { memoryStore } from './store.js';
