import { planReshard, reshard, ShardMap } from '@idsmith/shard';
import { StoreError } from 'idsmith';
import { Redis } from 'ioredis';
import { afterEach, expect, it } from 'vitest';
import { describeWith, type RedisOptions, type RedisServer, startRedis } from '#services';
import { readPersistence } from '../../src/reshard/checks.ts';
import { ReshardContext } from '../../src/reshard/context.ts';
import { DurabilityBarrier } from '../../src/reshard/key-mover.ts';
import type { AfterStep } from '../../src/reshard/options.ts';
import { README_OPTIONS, ringOf } from '../start-shards.ts';

const AOF: RedisOptions = { persistence: 'aof' };
const SNAPSHOTS: RedisOptions = { args: ['--save', '3600 1'] };

await describeWith(['redis'], 'Before an old copy is dropped', () => {
  let servers: RedisServer[] = [];
  let clients: Redis[] = [];
  let maps: ShardMap[] = [];

  afterEach(async () => {
    await Promise.all(maps.splice(0).map((map) => map.close()));
    for (const client of clients.splice(0)) client.disconnect();
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  });

  /** An old node with a hundred keys and a new node. */
  async function start(...options: [RedisOptions, RedisOptions]): Promise<[ShardMap, ShardMap]> {
    servers = await Promise.all(options.map((one) => startRedis(one)));
    clients = servers.map(({ port }) => new Redis(port).on('error', () => {}));
    maps = servers.map(
      (server) => new ShardMap({ ...ringOf([server]), options: { ...README_OPTIONS, maxSkew: 50 } }),
    );
    const pipeline = clients[0]!.pipeline();
    for (const key of keys()) pipeline.set(key, key);
    await pipeline.exec();
    return [maps[0]!, maps[1]!];
  }
  const keys = () => Array.from({ length: 100 }, (_, i) => maps[0]!.fixedKey(1000 + i, i, 2));

  it.each<[string, RedisOptions, RedisOptions]>([
    ['an append-only file to nothing', AOF, {}],
    ['an append-only file to snapshots', AOF, SNAPSHOTS],
    ['snapshots to snapshots', SNAPSHOTS, SNAPSHOTS],
    ['snapshots to nothing', SNAPSHOTS, {}],
  ])('a move from %s is refused, unless it is asked for by name', async (_, old, next) => {
    const [from, to] = await start(old, next);
    for (const run of [planReshard, reshard]) {
      const error = await run(from, to).catch((error) => error);
      expect(error).toBeInstanceOf(StoreError);
      expect(error.message).toContain(
        `node 127.0.0.1:${servers[1]!.port} has neither an append-only file nor a replica`,
      );
      expect(error.message).toContain('--accept-volatile-target');
    }
    expect(await clients[0]!.exists(...keys())).toBe(100);
    expect(await clients[1]!.dbsize()).toBe(0);
    expect(await planReshard(from, to, { acceptVolatileTarget: true })).toMatchObject({ keys: 100 });
    expect(await reshard(from, to, { acceptVolatileTarget: true })).toMatchObject({ moved: 100 });
  });

  it('a move between nodes that keep nothing needs no consent', async () => {
    const [from, to] = await start({}, {});
    expect(await reshard(from, to)).toMatchObject({ moved: 100 });
  });

  it('the new copy survives a crash of the new owner right after the move', async () => {
    const [from, to] = await start(AOF, AOF);
    expect(await reshard(from, to)).toMatchObject({ moved: 100 });
    await servers[1]!.kill();
    await servers[1]!.start();
    expect(await clients[1]!.exists(...keys())).toBe(100);
  });

  /** The number of calls of a command on the new node. */
  async function calls(command: string): Promise<number> {
    const stats = await clients[1]!.info('commandstats');
    return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
  }

  it('the new copy is on disk where the server can tell, with one question for a batch at most', async () => {
    const [from, to] = await start(AOF, { ...AOF, args: ['--appendfsync', 'always'] });
    const [, major, minor] = /redis_version:(\d+)\.(\d+)/.exec(await clients[1]!.info('server'))!.map(Number);
    expect(await reshard(from, to, { batch: 10 })).toMatchObject({ moved: 100 });
    const isAble = major! > 7 || (major === 7 && minor! >= 2);
    const asked = await calls('waitaof');
    expect(asked).toBeGreaterThanOrEqual(isAble ? 1 : 0);
    expect(asked).toBeLessThanOrEqual(isAble ? 10 : 0);
  });

  it('the new copy is at a replica of the new owner, or the old copy stays', async () => {
    const [from, to] = await start(AOF, {});
    const replica = await startRedis({ args: ['--replicaof', `127.0.0.1 ${servers[1]!.port}`] });
    servers.push(replica);
    clients.push(new Redis(replica.port));
    const isOnline = async () => (await clients[1]!.info('replication')).includes('state=online');
    while (!(await isOnline())) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(await reshard(from, to, { batch: 10 })).toMatchObject({ moved: 100 });
    const asked = await calls('wait');
    expect(asked).toBeGreaterThan(0);
    expect(asked).toBeLessThanOrEqual(10);
    expect(await clients[2]!.exists(...keys())).toBe(100);

    // The replica has gone since the checks.
    const target = new ReshardContext(from, to).targets.get(to.nodes[0]!.address)!;
    const persistence = await readPersistence(target);
    expect(persistence).toMatchObject({ hasAof: false, replicas: 1 });
    await clients[2]!.replicaof('NO', 'ONE');
    await clients[1]!.set('x', 'y');
    const barrier = new DurabilityBarrier(new Map([[target.address, persistence]]), 50);
    await target.command('writing', 'SET', 'x', 'z');
    await expect(barrier.wait(target)).rejects.toThrow('WAIT had no success within 50 ms');
  });

  it('a wait on another connection than the copies were written on counts for nothing', async () => {
    const [from, to] = await start(AOF, {});
    const replica = await startRedis({ args: ['--replicaof', `127.0.0.1 ${servers[1]!.port}`] });
    servers.push(replica);
    const isOnline = async () => (await clients[1]!.info('replication')).includes('state=online');
    while (!(await isOnline())) await new Promise((resolve) => setTimeout(resolve, 10));
    // The server has closed the connection after the first copies, and the driver has connected again.
    let closed = 0;
    const afterStep: AfterStep = async (step) => {
      if (step === 'put' && closed++ === 0) await clients[1]!.call('CLIENT', 'KILL', 'TYPE', 'normal');
    };
    const dropped: number[] = [];
    const observed: AfterStep = async (step) => {
      await afterStep(step);
      if (step === 'dropped') dropped.push(await clients[0]!.exists(...keys()));
    };
    expect(await reshard(from, to, { afterStep: observed } as object)).toMatchObject({
      moved: 100,
      superseded: 0,
    });
    // The keys of the first batch were not dropped, but moved once more.
    expect(dropped).toEqual([100, 0]);
    expect(await clients[1]!.exists(...keys())).toBe(100);
  });

  it('the connection is asked for its id before copies are written on it, in the same round trip', async () => {
    const [from, to] = await start(AOF, {});
    const replica = await startRedis({ args: ['--replicaof', `127.0.0.1 ${servers[1]!.port}`] });
    servers.push(replica);
    const isOnline = async () => (await clients[1]!.info('replication')).includes('state=online');
    while (!(await isOnline())) await new Promise((resolve) => setTimeout(resolve, 10));
    const monitor = await clients[1]!.monitor();
    const seen: string[] = [];
    monitor.on('monitor', (_time: string, [name = '', ...args]: string[], source: string) => {
      if (source !== 'lua' && /^(eval|evalsha|client|wait)$/i.test(name))
        seen.push(/^eval/i.test(name) ? 'script' : [name, args[0]].join(' ').toUpperCase());
    });
    await reshard(from, to);
    await expect.poll(() => seen).toContain('WAIT 1');
    monitor.disconnect();
    // Nothing but the PUT comes between the question and the wait.
    const wait = seen.indexOf('WAIT 1');
    const asked = seen.lastIndexOf('CLIENT ID', wait);
    expect(asked).toBeGreaterThan(-1);
    expect(new Set(seen.slice(asked + 1, wait))).toEqual(new Set(['script']));
  });

  it('refuses an option that is neither true nor false', async () => {
    const [from, to] = await start({}, {});
    for (const run of [planReshard, reshard])
      await expect(run(from, to, { acceptVolatileTarget: 'yes' } as never)).rejects.toThrow(
        'acceptVolatileTarget must be true or false, not "yes"',
      );
  });
});
