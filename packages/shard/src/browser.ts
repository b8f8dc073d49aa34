// The entry `@idsmith/shard/ring`: safe for browsers, since nothing here talks to Redis.

export { type ShardConfig, shardNodesOf } from './config/config.js';
export type { ShardNode } from './config/shard-nodes.js';
export { fixedKey } from './keys/codec.js';
export { HashRing, MAX_WEIGHT } from './ring/hash-ring.js';
