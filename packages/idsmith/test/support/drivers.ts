import * as ioredis from 'ioredis';
import * as ioredis5 from 'ioredis-5';
import * as redis from 'redis';
import * as redis5 from 'redis-5';

/** A client, and a function that ends it. */
export interface OpenClient {
  // biome-ignore lint/suspicious/noExplicitAny: the drivers have different types, and the tests use what they share
  readonly client: any;
  readonly end: () => void;
}

type Open = (port: number) => Promise<OpenClient>;
type OpenCluster = (ports: readonly number[], options?: object) => Promise<OpenClient>;

function ofIoredis({ Redis }: { Redis: typeof ioredis.Redis }): Open {
  return async (port) => {
    const client = new Redis(port, '127.0.0.1', {
      maxRetriesPerRequest: 1,
      autoResendUnfulfilledCommands: false,
    });
    client.on('error', () => {});
    return { client, end: () => client.disconnect() };
  };
}

function ofRedis({ createClient }: { createClient: typeof redis.createClient }): Open {
  return async (port) => {
    const client = createClient({ url: `redis://127.0.0.1:${port}`, disableOfflineQueue: true });
    client.on('error', () => {});
    await client.connect();
    return { client, end: () => client.destroy() };
  };
}

function clusterOfIoredis({ Cluster }: { Cluster: typeof ioredis.Cluster }): OpenCluster {
  return async (ports, options) => {
    const client = new Cluster(
      ports.map((port) => ({ host: '127.0.0.1', port })),
      options,
    );
    return { client, end: () => client.disconnect() };
  };
}

function clusterOfRedis({ createCluster }: { createCluster: typeof redis.createCluster }): OpenCluster {
  return async (ports, options) => {
    const rootNodes = ports.map((port) => ({ url: `redis://127.0.0.1:${port}` }));
    const client = createCluster({ rootNodes, ...options });
    await client.connect();
    return { client, end: () => client.destroy() };
  };
}

/** The same versions, for a Redis Cluster. */
export const CLUSTER_DRIVERS: Readonly<Record<string, OpenCluster>> = {
  'ioredis 5.8.1': clusterOfIoredis(ioredis5 as never),
  'ioredis 6.0.0': clusterOfIoredis(ioredis),
  'redis 5.11.0': clusterOfRedis(redis5 as never),
  'redis 6.3.1': clusterOfRedis(redis),
};

/** The lowest and the highest version of each driver that package.json declares. */
export const DRIVERS: Readonly<Record<string, Open>> = {
  'ioredis 5.8.1': ofIoredis(ioredis5 as never),
  'ioredis 6.0.0': ofIoredis(ioredis),
  'redis 5.11.0': ofRedis(redis5 as never),
  'redis 6.3.1': ofRedis(redis),
};
