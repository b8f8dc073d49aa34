import { InvalidOptionError } from 'idsmith';
import { Cluster, Redis } from 'ioredis';
import { createCluster } from 'redis';
import { expect, it } from 'vitest';
import { binaryClient } from '../../src/redis/client.ts';
import { clusterClient } from '../../src/redis/cluster-client.ts';

// A prefix would be put before the keys of scripts, and not before the keys that they find.
it('A client with a prefix is refused for keys that are moved', () => {
  const client = new Redis({ keyPrefix: 'app:', lazyConnect: true });
  expect(() => binaryClient(client)).toThrow(InvalidOptionError);
  expect(() => binaryClient(client)).toThrow('keyPrefix must be empty for resharding, not "app:"');
});

it.each([
  ['keyPrefix', { keyPrefix: 'app:' }, /^keyPrefix must be empty .*"app:"/],
  ['a keyPrefix for its nodes', { redisOptions: { keyPrefix: 'app:' } }, /^keyPrefix must be empty .*"app:"/],
  ['scaleReads', { scaleReads: 'slave' }, /^scaleReads must be master/],
] as const)(
  'A cluster client of ioredis with %s is refused for keys that are moved',
  (_, options, message) => {
    const client = new Cluster([{ host: '127.0.0.1', port: 1 }], { ...options, lazyConnect: true });
    expect(() => clusterClient(client)).toThrow(InvalidOptionError);
    expect(() => clusterClient(client)).toThrow(message);
  },
);

it('A cluster client of redis that reads from replicas is refused for keys that are moved', () => {
  const client = createCluster({ rootNodes: [{ url: 'redis://127.0.0.1:1' }], useReplicas: true });
  expect(() => clusterClient(client)).toThrow(/^useReplicas must be false/);
});

it.each([[undefined], [null], [{}], [5]])('%j is no client of a cluster', (client) => {
  expect(() => clusterClient(client)).toThrow(InvalidOptionError);
  expect(() => clusterClient(client)).toThrow(
    /^cluster must be a cluster client of the package ioredis or redis/,
  );
});

it.each([[undefined], [null], [{}], [{ evalSha: () => {} }], [5]])('%j is no client', (client) => {
  expect(() => binaryClient(client)).toThrow(InvalidOptionError);
});
