export { type InspectOptions, inspect } from './inspect.js';
export type { Reading } from './reading.js';
