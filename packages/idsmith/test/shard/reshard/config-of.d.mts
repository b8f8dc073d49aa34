import type { ShardConfig } from 'idsmith/shard';

export function configOf(config: ShardConfig & { readonly clusterPorts?: readonly number[] }): ShardConfig;
export function endClusters(): void;
