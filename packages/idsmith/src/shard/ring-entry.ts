export { readConfig, type ShardConfig, type ShardNode, type ShardSettings } from './config.js';
export { writeKey } from './key.js';
export { HashRing, MAX_WEIGHT } from './ring.js';
