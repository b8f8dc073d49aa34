export { type IdGenerators, type IdsmithOptions, idsmith, idsmith as default } from './plugin.js';
