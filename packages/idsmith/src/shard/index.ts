export type { AnyClient, ShardAuth, ShardConfig, ShardOptions } from './config.js';
export type { ReshardProgress } from './reshard/move/progress.js';
export type { PlanOptions } from './reshard/plan/plan-options.js';
export { planReshard, type ReshardPair, type ReshardPlan } from './reshard/plan/plan-reshard.js';
export { type ReshardOptions, type ReshardReport, reshard } from './reshard/reshard.js';
export { TransitionMap } from './reshard/route/transition-map.js';
export { HashRing } from './ring/hash-ring.js';
export { type NodeFailure, ShardMap } from './shard-map.js';
export type { ShardEntry, ShardNode, ShardRecord, ShardTuple } from './shard-nodes.js';
