export type { AnyClient } from './client.js';
export type { ShardAuth, ShardConfig, ShardEntry, ShardNode, ShardOptions } from './config.js';
export { type NodeFailure, ShardMap } from './map.js';
export { HashRing } from './ring.js';
