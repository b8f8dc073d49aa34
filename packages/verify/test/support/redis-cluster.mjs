// A store on a Redis Cluster behind proxies, which a URL cannot name: the variable CLUSTER has them and the nodes, as JSON.

import process from 'node:process';
import { redisStore } from 'idsmith/stores/redis';
import { Cluster } from 'ioredis';

const { nodes, natMap, maxTtl } = JSON.parse(process.env.CLUSTER);

export function openStore() {
  const client = new Cluster(nodes, {
    natMap,
    // As openStore has them for a single server.
    redisOptions: {
      connectTimeout: 5000,
      maxRetriesPerRequest: 1,
      autoResendUnfulfilledCommands: false,
      socketTimeout: 2000,
    },
  });
  client.on('error', () => {});
  return { ...redisStore(client, { maxTtl }), close: async () => client.disconnect() };
}
