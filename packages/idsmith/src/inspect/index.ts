export { type InspectOptions, inspect, requireReadings } from './inspect.js';
export type { PublicIdReader } from './public.js';
export type { InspectedFamily, Reading } from './reading.js';
