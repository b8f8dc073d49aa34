export { type InspectOptions, inspect, requireReadings } from './inspect.js';
export type { PublicIdReader } from './own-ids.js';
export type { InspectedFamily, Reading } from './reading.js';
