export { memoryStore } from './store.js';
