import { createServer, connect as dial, type Server } from 'node:net';
import { abortReshard, planReshard, reshard, ShardMap } from '@idsmith/shard';
import { StoreError } from 'idsmith';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith, type RedisServer, startRedis } from '#services';
import { README_OPTIONS } from '../start-shards.ts';
import { RingAndCluster } from './ring-and-cluster.ts';

/** The end of a value with few entries, as Redis 7.0 writes it: the end of the list, and the version of the format. */
const VERSION = Buffer.from([0xff, 10, 0]);

/** Stands before a server, and lets its values look as if Redis 7.4 had written them. Redis 7.0 refuses such values. */
async function laterVersionOf({ port }: RedisServer): Promise<Server> {
  const proxy = createServer((client) => {
    const server = dial(port, '127.0.0.1');
    client.pipe(server);
    server.on('data', (data) => {
      for (let at = data.indexOf(VERSION); at >= 0; at = data.indexOf(VERSION, at + 1)) data[at + 1] = 12;
      client.write(data);
    });
    client.on('error', () => {}).on('close', () => server.destroy());
    server.on('error', () => {}).on('close', () => client.destroy());
  });
  await new Promise<void>((listening) => proxy.listen(0, '127.0.0.1', listening));
  return proxy;
}

const portOf = (proxy: Server) => (proxy.address() as { port: number }).port;

await describeWith(['redis'], 'A resharding between servers of two versions', () => {
  let servers: [RedisServer, RedisServer];
  let clients: Redis[];
  let later: [Server, Server];
  const maps: ShardMap[] = [];

  beforeAll(async () => {
    servers = [await startRedis(), await startRedis()];
    clients = servers.map(({ port }) => new Redis(port));
    later = [await laterVersionOf(servers[0]), await laterVersionOf(servers[1])];
  });
  beforeEach(() => Promise.all(clients.map((client) => client.flushall())));
  afterEach(async () => {
    await Promise.all(maps.splice(0).map((map) => map.close()));
  });
  afterAll(async () => {
    for (const client of clients ?? []) client.disconnect();
    for (const proxy of later ?? []) proxy.close();
    await Promise.all((servers ?? []).map((server) => server.stop()));
  });

  /** The maps of one node each, by their ports, and a key of the first one that is moved by DUMP and RESTORE. */
  async function pair(from: number, to: number): Promise<[ShardMap, ShardMap, string]> {
    const both = [from, to].map(
      (port) =>
        new ShardMap({
          shards: { 0: [String(port), '127.0.0.1', 1] },
          driver: 'ioredis',
          options: { ...README_OPTIONS, maxSkew: 50 },
        }),
    ) as [ShardMap, ShardMap];
    maps.push(...both);
    const key = await both[0].genKey('user');
    await both[0].getClient(key).hset(key, 'name', 'Ada');
    return [...both, key];
  }

  /** Both servers hold what they held before. */
  async function expectNothingChanged(from: ShardMap, key: string): Promise<void> {
    expect(await clients[1]!.keys('*')).toEqual([]);
    expect((await clients[0]!.keys('*')).sort()).toEqual(['$equence', key].sort());
    // Minting was not handed over.
    expect(await clients[0]!.hget('$equence', 'state')).toBe('open');
    expect(await from.genKeys('user', 3)).toHaveLength(3);
  }

  it('is refused before anything is changed if the new owner is older, in a dry run, too', async () => {
    const [from, to, key] = await pair(portOf(later[0]), servers[1].port);
    for (const run of [planReshard, reshard]) {
      const error = await run(from, to, { acceptNoAbort: true }).catch((error) => error);
      expect(error).toBeInstanceOf(StoreError);
      expect(error.message).toContain(`node 127.0.0.1:${servers[1].port} (Redis `);
      expect(error.message).toContain(
        `cannot read the values that node 127.0.0.1:${portOf(later[0])} (Redis `,
      );
      expect(error.message).toContain('DUMP payload version or checksum are wrong');
      expect(error.message).toContain('Nothing was changed');
    }
    await expectNothingChanged(from, key);
  });

  it('needs an acceptance by name if the old owner is older, because it cannot be aborted', async () => {
    const [from, to, key] = await pair(servers[0].port, portOf(later[1]));
    for (const run of [planReshard, reshard])
      await expect(run(from, to)).rejects.toThrow(
        /a resharding that is aborted could not move its keys back\. Nothing was changed\. .*acceptNoAbort \(--accept-no-abort\)/,
      );
    await expectNothingChanged(from, key);
    expect(await planReshard(from, to, { acceptNoAbort: true })).toMatchObject({ keys: 1 });
    const afterStep = (step: string) => {
      if (step === 'put') throw new Error('killed');
    };
    const options = { acceptNoAbort: true, afterStep } as object;
    await expect(reshard(from, to, options)).rejects.toThrow('killed');
    await expect(abortReshard(from, to)).rejects.toThrow(
      /keys could not be moved back\. Nothing was changed\. Run the resharding to its end/,
    );
    expect(await clients[0]!.hget('idsmith:reshard', 'phase')).toBe('moving');
    await reshard(from, to);
    expect(await clients[1]!.hget(key, 'name')).toBe('Ada');
  });
});

await describeWith(['redis'], 'A server without a command that resharding needs', () => {
  const maps: ShardMap[] = [];
  let servers: RedisServer[] = [];

  afterEach(async () => {
    await Promise.all(maps.splice(0).map((map) => map.close()));
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  });

  it.each([
    ['DUMP', 0],
    ['RESTORE', 1],
    ['RESTORE', 0],
    ['SCAN', 0],
  ])('is refused before anything is changed: %s on node %i', async (command, at) => {
    const args = ['--rename-command', command, ''];
    servers = await Promise.all([0, 1].map((i) => startRedis(i === at ? { args } : {})));
    const [from, to] = servers.map(
      ({ port }) =>
        new ShardMap({
          shards: { 0: [String(port), '127.0.0.1', 1] },
          driver: 'ioredis',
          options: { ...README_OPTIONS, maxSkew: 50 },
        }),
    ) as [ShardMap, ShardMap];
    maps.push(from, to);
    const key = await from.genKey('user');
    await from.getClient(key).hset(key, 'name', 'Ada');
    for (const run of [planReshard, reshard, abortReshard])
      await expect(run(from, to)).rejects.toThrow(
        `node 127.0.0.1:${servers[at]!.port}: the server does not know ${command}, which resharding needs. Nothing was changed`,
      );
    expect(await servers[1]!.command('DBSIZE')).toBe('0');
    expect(await from.genKeys('user', 3)).toHaveLength(3);
  });
});

await describeWith(['redis'], 'A resharding to a Redis Cluster with a master of another version', () => {
  let both: RingAndCluster;

  beforeAll(async () => {
    both = await RingAndCluster.start();
  });
  afterAll(() => both?.stop());

  it('tries a value on each master, and leaves nothing behind', async () => {
    const [from, to] = both.maps();
    await from.genKey();
    const calls = async () =>
      Promise.all(
        both.cluster.masters.map(async (master) =>
          Number(/cmdstat_restore:calls=(\d+)/.exec(await master.command('INFO', 'commandstats'))?.[1] ?? 0),
        ),
      );
    const before = await calls();
    await planReshard(from, to);
    const after = await calls();
    for (const [i, count] of after.entries()) expect(count - before[i]!).toBeGreaterThan(0);
    expect(await both.keysOf(both.cluster.masters)).toEqual([]);
  });
});
