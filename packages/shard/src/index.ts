export type { ShardAuth } from './config/auth.js';
export type { ShardCluster } from './config/cluster-settings.js';
export type { AnyClient, ShardConfig, ShardOptions } from './config/config.js';
export type { ShardEntry, ShardRecord, ShardSentinel, ShardTuple } from './config/shard-entry.js';
export type { ShardNode } from './config/shard-nodes.js';
export { type GenKeyOptions, type NodeFailure, ShardMap } from './map/shard-map.js';
export {
  type AnsweringNode,
  type NodeResharding,
  type NodeStatus,
  nodeStatus,
  type SilentNode,
} from './reshard/node-status.js';
export type { MoveOptions, PlanOptions, ReshardProgress } from './reshard/options.js';
export { planReshard, type ReshardPair, type ReshardPlan } from './reshard/plan-reshard.js';
export { HashRing } from './ring/hash-ring.js';
export { abortReshard } from './transition/abort-reshard.js';
export { type ReshardOptions, type ReshardReport, reshard } from './transition/reshard.js';
export { TransitionMap } from './transition/transition-map.js';
