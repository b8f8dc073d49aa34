// The entry `idsmith/shard/ring`: safe for browsers, since nothing here talks to Redis.

export { type ShardConfig, type ShardEntry, type ShardNode, shardNodesOf } from '../config.js';
export { fixedKey } from '../keys/codec.js';
export { HashRing, MAX_WEIGHT } from './hash-ring.js';
