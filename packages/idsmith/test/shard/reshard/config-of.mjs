// Configs of processes. A config with `clusterPorts` is one of a Redis Cluster, because a client cannot be handed to a process.

import { Cluster } from 'ioredis';

const clusters = [];

export function configOf({ clusterPorts, ...config }) {
  if (clusterPorts === undefined) return config;
  const cluster = new Cluster(clusterPorts.map((port) => ({ host: '127.0.0.1', port })));
  clusters.push(cluster);
  return { ...config, cluster, hashTags: true };
}

export function endClusters() {
  for (const cluster of clusters) cluster.disconnect();
}
