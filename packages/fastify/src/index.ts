export type { IdsmithOptions } from './options.js';
export { idsmith, idsmith as default } from './plugin.js';
