// The entry `idsmith/shard/ring`: safe for browsers, since nothing here talks to Redis.

export { type ShardConfig, shardNodesOf } from '../config.js';
export { fixedKey } from '../keys/codec.js';
export type { ShardEntry, ShardRecord, ShardSentinel, ShardTuple } from '../shard-entry.js';
export type { ShardNode } from '../shard-nodes.js';
export { HashRing, MAX_WEIGHT } from './hash-ring.js';
