export type { AnyClient } from './client.js';
export type { ShardAuth, ShardConfig, ShardEntry, ShardNode, ShardOptions } from './config.js';
export { type NodeFailure, ShardMap } from './map.js';
export { type PlanOptions, planReshard, type ReshardPair, type ReshardPlan } from './reshard/plan.js';
export type { ReshardProgress } from './reshard/progress.js';
export { type ReshardOptions, type ReshardReport, reshard } from './reshard/reshard.js';
export { TransitionMap } from './reshard/transition.js';
export { HashRing } from './ring.js';
