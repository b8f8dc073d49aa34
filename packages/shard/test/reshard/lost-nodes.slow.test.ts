import { abortReshard, planReshard, reshard, ShardMap, TransitionMap } from '@idsmith/shard';
import { InvalidOptionError, StoreError } from 'idsmith';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeWith, type RedisServer, startRedis } from '#services';
import { positionOf, README_OPTIONS, ringOf } from '../start-shards.ts';

await describeWith(['redis'], 'A node that is lost for good', () => {
  let servers: RedisServer[];
  let clients: Redis[];
  let maps: { close(): Promise<void> }[];

  beforeEach(async () => {
    maps = [];
    servers = await Promise.all([startRedis(), startRedis(), startRedis(), startRedis()]);
    clients = servers.map(({ port }) => new Redis(port).on('error', () => {}));
  });
  afterEach(async () => {
    await Promise.all(maps.map((map) => map.close()));
    for (const client of clients) client.disconnect();
    await Promise.all(servers.map((server) => server.stop()));
  });

  const configOf = (nodes: readonly number[]) => ({
    ...ringOf(nodes.map((i) => servers[i]!)),
    options: { ...README_OPTIONS, maxSkew: 50 },
  });
  const open = <M extends { close(): Promise<void> }>(map: M): M => {
    maps.push(map);
    return map;
  };
  const mapsOf = (old: readonly number[], next: readonly number[]) =>
    [old, next].map((nodes) => open(new ShardMap(configOf(nodes)))) as [ShardMap, ShardMap];
  const nameOf = (i: number) => `127.0.0.1:${servers[i]!.port}`;

  async function fill(map: ShardMap): Promise<string[]> {
    const keys = Array.from({ length: 300 }, (_, i) => map.fixedKey(1000 + i, i, 2));
    for (const key of keys) await map.getClient(key).set(key, key);
    return keys;
  }

  /** Moves some of the keys, and then stops. */
  async function moveSome(from: ShardMap, to: ShardMap): Promise<void> {
    const controller = new AbortController();
    const onProgress = ({ moved }: { moved: number }) => {
      if (moved >= 15) controller.abort(new Error('enough'));
    };
    const error = await reshard(from, to, { batch: 5, signal: controller.signal, onProgress }).catch(
      (error) => error,
    );
    expect(error.message).toBe('enough');
  }

  it('as an old owner is given up by name: the other keys move, and minting goes on without it', async () => {
    const [from, to] = mapsOf([0, 1, 2], [1, 2, 3]);
    const keys = await fill(from);
    const minted = await from.genKeys('user', 50);
    await servers[0]!.kill();
    for (const run of [planReshard, reshard]) {
      const error = await run(...mapsOf([0, 1, 2], [1, 2, 3])).catch((error) => error);
      expect(error).toBeInstanceOf(StoreError);
      expect(error.message).toContain(`node ${nameOf(0)}: `);
    }
    const gone = [nameOf(0)];
    const plan = await planReshard(...mapsOf([0, 1, 2], [1, 2, 3]), { gone });
    const left = keys.filter((key) => from.ownerOf(key).index !== 0);
    const report = await reshard(...mapsOf([0, 1, 2], [1, 2, 3]), { gone });
    expect(report.moved).toBe(plan.keys);
    const [, after] = mapsOf([0], [1, 2, 3]);
    for (const key of left) expect(await after.getClient(key).get(key)).toBe(key);
    minted.push(...(await after.genKeys('user', 50)));
    expect(new Set(minted.map(positionOf)).size).toBe(100);
    expect(await to.getClient(left[0]!).get(left[0]!)).toBe(left[0]);
  }, 60_000);

  it('in the middle is given up, and maps in transition learn it: its keys are free, the others are there', async () => {
    const [from, to] = mapsOf([0, 1], [1, 2]);
    const keys = await fill(from);
    await moveSome(from, to);
    const running = open(new TransitionMap(configOf([0, 1]), configOf([1, 2])));
    const others = keys.filter((key) => from.ownerOf(key).index === 1);
    for (const key of others.slice(0, 10)) expect(await running.getClient(key).get(key)).toBe(key);
    await servers[0]!.kill();
    await reshard(...mapsOf([0, 1], [1, 2]), { gone: [nameOf(0)] });
    const fresh = open(new TransitionMap(configOf([0, 1]), configOf([1, 2])));
    for (const map of [running, fresh]) {
      for (const key of others) expect(await map.getClient(key).get(key)).toBe(key);
      const lost = keys.find((key) => from.ownerOf(key).index === 0)!;
      expect(await map.getClient(lost).set(lost, 'again')).toBe('OK');
      expect(await map.getClient(lost).get(lost)).toBe('again');
    }
    expect(new Set([await running.genKey(), await fresh.genKey()]).size).toBe(2);
  }, 60_000);

  it('is remembered: the next run needs no name', async () => {
    const [from, to] = mapsOf([0, 1], [1, 2]);
    await fill(from);
    await servers[0]!.kill();
    const controller = new AbortController();
    const onProgress = () => controller.abort(new Error('enough'));
    const stopped = reshard(...mapsOf([0, 1], [1, 2]), {
      gone: [nameOf(0)],
      batch: 5,
      signal: controller.signal,
      onProgress,
    });
    await expect(stopped).rejects.toThrow('enough');
    expect(await reshard(...mapsOf([0, 1], [1, 2]))).toMatchObject({ lapsed: 0 });
    expect(await to.genKeys('user', 3)).toHaveLength(3);
  }, 60_000);

  it('as a new owner cannot be given up, but the resharding can', async () => {
    const [from, to] = mapsOf([0, 1], [0, 1, 2]);
    const keys = await fill(from);
    await moveSome(from, to);
    const moved: string[] = [];
    for (const key of keys) if ((await clients[2]!.exists(key)) === 1) moved.push(key);
    await servers[2]!.kill();
    const error = await reshard(...mapsOf([0, 1], [0, 1, 2]), { gone: [nameOf(2)] }).catch((error) => error);
    expect(error).toBeInstanceOf(InvalidOptionError);
    expect(error.message).toContain(`keys are moved to node ${nameOf(2)}, so it cannot be given up`);
    await abortReshard(...mapsOf([0, 1], [0, 1, 2]), { gone: [nameOf(2)] });
    const [after] = mapsOf([0, 1], [3]);
    for (const key of keys.filter((one) => !moved.includes(one)))
      expect(await after.getClient(key).get(key)).toBe(key);
    const running = open(new TransitionMap(configOf([0, 1]), configOf([0, 1, 2])));
    const kept = keys.find((one) => to.ownerOf(one).index === 2 && !moved.includes(one))!;
    expect(await running.getClient(kept).get(kept)).toBe(kept);
    expect(await after.genKeys('user', 3)).toHaveLength(3);
  }, 60_000);

  it('after the end costs nothing: nobody looks for keys there any more', async () => {
    const [from, to] = mapsOf([0, 1], [1, 2]);
    const keys = await fill(from);
    await reshard(from, to);
    const running = open(new TransitionMap(configOf([0, 1]), configOf([1, 2])));
    for (const key of keys.slice(0, 5)) expect(await running.getClient(key).get(key)).toBe(key);
    await servers[0]!.kill();
    const fresh = open(new TransitionMap(configOf([0, 1]), configOf([1, 2])));
    // A read that looked there would take ten seconds: a few of them, and the test has no time left.
    for (const map of [running, fresh])
      for (const key of keys) expect(await map.getClient(key).get(key)).toBe(key);
  }, 60_000);

  it('keeps nodes from minting that were started again, and the reason is true', async () => {
    const server = await startRedis({ persistence: 'aof' });
    servers.push(server);
    clients.push(new Redis(server.port).on('error', () => {}));
    const [map, never] = mapsOf([0, 4], [0, 1]);
    await map.genKey();
    await servers[0]!.kill();
    await server.kill();
    await server.start();
    const [again] = mapsOf([0, 4], [1]);
    await expect(again.genKey()).rejects.toThrow(
      'the other nodes were started again, so none of them can tell whether minting was handed over',
    );
    await expect(never.genKey()).rejects.toThrow('these nodes have not minted together before');
  }, 60_000);

  it('must have a name that the maps know', async () => {
    await expect(reshard(...mapsOf([0, 1], [1, 2]), { gone: ['nobody:1'] })).rejects.toThrow(
      new InvalidOptionError(
        `gone: there is no node "nobody:1" in the two maps (${nameOf(0)}, ${nameOf(1)}, ${nameOf(2)})`,
      ),
    );
    await expect(reshard(...mapsOf([0], [1, 2]), { gone: [nameOf(0)] })).rejects.toThrow(
      'gone must leave at least one of the nodes that keys are moved from',
    );
  });
});
