import { reshard, ShardMap, TransitionMap } from '@idsmith/shard';
import { StoreError } from 'idsmith';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeWith, type RedisServer, startRedis } from '#services';
import { README_OPTIONS, ringOf } from '../start-shards.ts';

/** The kinds of memory that a node has of the time before its crash. */
type Memory = 'all' | 'older' | 'none';

await describeWith(['redis'], 'A node that crashes in the middle of a resharding', () => {
  let servers: RedisServer[];
  let clients: Redis[];
  let maps: { close(): Promise<void> }[];

  beforeEach(() => {
    [servers, clients, maps] = [[], [], []];
  });
  afterEach(async () => {
    await Promise.all(maps.map((map) => map.close()));
    for (const client of clients) client.disconnect();
    await Promise.all(servers.map((server) => server.stop()));
  });

  /** Starts servers. The first one is the one that crashes. */
  async function start(count: number, memory: Memory): Promise<void> {
    for (let i = 0; i < count; i++) {
      servers.push(await startRedis({ persistence: memory === 'all' ? 'aof' : 'none' }));
      clients.push(new Redis(servers[i]!.port).on('error', () => {}));
    }
  }

  const configs = (old: readonly number[], next: readonly number[]) =>
    [old, next].map((some) => ({
      ...ringOf(some.map((i) => servers[i]!)),
      options: { ...README_OPTIONS, maxSkew: 50 },
    }));

  const open = <M extends { close(): Promise<void> }>(map: M): M => {
    maps.push(map);
    return map;
  };

  const mapsOf = (old: readonly number[], next: readonly number[]) =>
    configs(old, next).map((config) => open(new ShardMap(config))) as [ShardMap, ShardMap];

  /** Kills the first server, and starts it again with what it remembers. */
  async function crash(): Promise<void> {
    await servers[0]!.kill();
    await servers[0]!.start();
    await clients[0]!.ping();
  }

  /** Moves some of the keys, and then stops. The node that gives some away has fewer: so the one that gives all away gave some. */
  async function moveSome(from: ShardMap, to: ShardMap): Promise<void> {
    const controller = new AbortController();
    await reshard(from, to, {
      batch: 10,
      signal: controller.signal,
      onProgress: ({ moved }) => {
        if (moved >= 180) controller.abort(new Error('enough'));
      },
    }).catch((error) => expect(error.message).toBe('enough'));
  }

  /** So many that some are left when the batches under way have ended. */
  const KEYS = 600;
  const fill = async (map: ShardMap) => {
    const keys = Array.from({ length: KEYS }, (_, i) => map.fixedKey(1000 + i, i, 2));
    for (const key of keys) await map.getClient(key).set(key, 'old');
    return keys;
  };

  const HARMFUL = /\b(delete|flush|remove|empty)\b/i;

  it('and comes back empty at another address is noticed, because its name on the ring has stayed', async () => {
    await start(3, 'none');
    const at = (some: readonly number[], host: string) => ({
      shards: Object.fromEntries(
        some.map((i, name) => [
          name,
          { port: servers[i]!.port, host: i === 0 ? host : '127.0.0.1', ringName: `r${i}` },
        ]),
      ),
      options: { ...README_OPTIONS, maxSkew: 50 },
    });
    const pair = (host: string) =>
      [at([1, 2], host), at([0, 1], host)].map((config) => open(new ShardMap(config))) as [
        ShardMap,
        ShardMap,
      ];
    const [from, to] = pair('127.0.0.1');
    await fill(from);
    await moveSome(from, to);
    expect(await clients[0]!.dbsize()).toBeGreaterThan(2);
    await crash();
    const refused = await reshard(...pair('localhost')).catch((error) => error);
    expect(refused).toBeInstanceOf(StoreError);
    expect(refused.message).toContain(`node localhost:${servers[0]!.port} was started again`);
    expect(refused.message).toContain('keys that were moved to it and are missing there are lost');
    await reshard(...pair('localhost'), { acceptOlder: ['r0'] });
  });

  it.each(['older', 'none'] as const)(
    'and comes back with %s data as an old owner is not taken for a node before the move',
    async (memory) => {
      await start(3, memory);
      const [from, to] = mapsOf([0, 1], [1, 2]);
      const keys = await fill(from);
      if (memory === 'older') await clients[0]!.save();
      await moveSome(from, to);
      const transition = () => open(new TransitionMap(...(configs([0, 1], [1, 2]) as [never, never])));
      // An application has changed what was moved from the first node.
      const fromFirst = keys.filter((key) => from.ownerOf(key).index === 0);
      const moved: string[] = [];
      for (const key of fromFirst) if ((await clients[0]!.exists(key)) === 0) moved.push(key);
      expect(moved.length).toBeGreaterThan(5);
      const before = transition();
      for (const key of moved) await before.getClient(key).set(key, 'new');
      await crash();

      const fresh = transition();
      const seen = await Promise.all(
        moved.map((key) =>
          fresh
            .getClient(key)
            .get(key)
            .catch((error: Error) => error),
        ),
      );
      for (const answer of seen) {
        expect(answer).toBeInstanceOf(StoreError);
        expect((answer as Error).message).toContain(`node 127.0.0.1:${servers[0]!.port} was started again`);
        expect((answer as Error).message).toContain(`127.0.0.1:${servers[1]!.port}`);
        expect((answer as Error).message).not.toMatch(HARMFUL);
      }
      // Neither does a second run take it for one, and its advice is harmless.
      const again = mapsOf([0, 1], [1, 2]);
      const refused = await reshard(...again).catch((error) => error);
      expect(refused).toBeInstanceOf(StoreError);
      expect(refused.message).toContain(`--accept-older 127.0.0.1:${servers[0]!.port}`);
      expect(refused.message).not.toMatch(HARMFUL);
      // With the consent of the operator it goes on, and what the new owners have stays.
      const node = `127.0.0.1:${servers[0]!.port}`;
      await reshard(...again, { acceptOlder: [node] });
      const after = transition();
      for (const key of moved) expect(await after.getClient(key).get(key)).toBe('new');
      const rest = keys.filter((key) => from.ownerOf(key).index !== 0 || memory === 'older');
      for (const key of rest) expect(await after.getClient(key).get(key)).toMatch(/old|new/);
      expect(await clients[0]!.exists(...fromFirst)).toBe(0);
    },
  );

  it('and comes back with data from the middle of the move is not trusted either', async () => {
    await start(3, 'older');
    const [from, to] = mapsOf([0, 1], [1, 2]);
    const keys = await fill(from);
    await moveSome(from, to);
    await clients[0]!.save();
    const left: string[] = [];
    for (const key of keys) if ((await clients[0]!.exists(key)) === 1) left.push(key);
    expect(left.length).toBeGreaterThan(5);
    // Applications move the rest, and delete it.
    const map = open(new TransitionMap(...(configs([0, 1], [1, 2]) as [never, never])));
    for (const key of left) await map.getClient(key).del(key);
    await crash();
    const fresh = open(new TransitionMap(...(configs([0, 1], [1, 2]) as [never, never])));
    const error = await fresh
      .getClient(left[0]!)
      .get(left[0]!)
      .catch((error: Error) => error);
    expect(error).toBeInstanceOf(StoreError);
    expect(error.message).toMatch(/It knows phase moving, 0 batches received and \d+ given away/);
    await expect(reshard(...mapsOf([0, 1], [1, 2]))).rejects.toThrow('Its data is older than that');
  });

  it.each(['before', 'in the middle of'] as const)(
    'and comes back after the end with data from %s the move gives its old values up, if that is accepted',
    async (moment) => {
      await start(3, 'older');
      const [from, to] = mapsOf([0, 1], [1, 2]);
      const keys = await fill(from);
      if (moment === 'before') await clients[0]!.save();
      await moveSome(from, to);
      if (moment !== 'before') await clients[0]!.save();
      await reshard(...mapsOf([0, 1], [1, 2]));
      const moved = open(new ShardMap(configs([0, 1], [1, 2])[1]!));
      for (const key of keys) await moved.getClient(key).set(key, 'new');
      await crash();
      expect(await clients[0]!.exists(...keys)).toBeGreaterThan(5);

      const again = mapsOf([0, 1], [1, 2]);
      const node = `127.0.0.1:${servers[0]!.port}`;
      await expect(reshard(...again)).rejects.toThrow(`--accept-older ${node}`);
      await reshard(...again, { acceptOlder: [node] });
      for (const key of keys) expect(await moved.getClient(key).get(key)).toBe('new');
      expect(await clients[0]!.exists(...keys)).toBe(0);
    },
  );

  it('and comes back without keys that were moved to it is an error that says so', async () => {
    await start(3, 'older');
    const [from, to] = mapsOf([1, 2], [0, 1]);
    await fill(from);
    await moveSome(from, to);
    await crash();
    const again = mapsOf([1, 2], [0, 1]);
    const refused = await reshard(...again).catch((error) => error);
    expect(refused).toBeInstanceOf(StoreError);
    expect(refused.message).toMatch(
      /It knows nothing of it, but .* know: phase moving, [1-9]\d* batches received/,
    );
    expect(refused.message).not.toMatch(HARMFUL);
    await reshard(...again, { acceptOlder: [`127.0.0.1:${servers[0]!.port}`] });
  });

  it.each([
    ['old', [0], [1]],
    ['new', [1], [0]],
  ] as const)('right before the end, as an %s owner, is noticed', async (_, old, next) => {
    await start(2, 'none');
    const [from, to] = mapsOf(old, next);
    await fill(from);
    let crashes = 0;
    const afterStep = async (step: string) => {
      if (step === 'settled' && crashes++ === 0) await crash();
    };
    const error = await reshard(from, to, { afterStep }).catch((error) => error);
    expect(error).toBeInstanceOf(StoreError);
    expect(error.message).toContain(`node 127.0.0.1:${servers[0]!.port}`);
    expect(error.message).toContain('started again');
    await expect(reshard(...mapsOf(old, next))).rejects.toThrow('--accept-older');
  });

  it.each([
    ['old', [0, 1], [1, 2]],
    ['new', [1, 2], [0, 1]],
  ] as const)('and comes back with all its data as an %s owner goes on', async (_, old, next) => {
    await start(3, 'all');
    const [from, to] = mapsOf(old, next);
    const keys = await fill(from);
    await moveSome(from, to);
    const running = open(new TransitionMap(...(configs(old, next) as [never, never])));
    for (const key of keys.slice(0, 20)) expect(await running.getClient(key).get(key)).toBe('old');
    await crash();
    const fresh = open(new TransitionMap(...(configs(old, next) as [never, never])));
    for (const key of keys) expect(await fresh.getClient(key).get(key)).toBe('old');
    for (const key of keys) expect(await running.getClient(key).get(key)).toBe('old');
    const again = mapsOf(old, next);
    await reshard(...again);
    for (const key of keys) {
      const owner = again[1].ownerOf(key).port;
      expect(await clients[servers.findIndex(({ port }) => port === owner)]!.get(key)).toBe('old');
    }
  });

  it('before a resharding goes on as before, whatever it remembers', async () => {
    await start(3, 'none');
    const map = open(new TransitionMap(...(configs([0, 1], [1, 2]) as [never, never])));
    const [from] = mapsOf([0, 1], [1, 2]);
    const keys = await fill(from);
    for (const key of keys) expect(await map.getClient(key).get(key)).toBe('old');
    await crash();
    const fresh = open(new TransitionMap(...(configs([0, 1], [1, 2]) as [never, never])));
    for (const one of [map, fresh])
      for (const key of keys) {
        expect(await one.getClient(key).set(key, 'again')).toBe('OK');
        expect(await from.getClient(key).get(key)).toBe('again');
      }
  });

  it('is not trusted by a process that cannot reach enough other nodes', async () => {
    await start(3, 'none');
    const [from, to] = mapsOf([0, 1], [1, 2]);
    const keys = await fill(from);
    await moveSome(from, to);
    await crash();
    await servers[1]!.kill();
    await servers[2]!.kill();
    const fresh = open(new TransitionMap(...(configs([0, 1], [1, 2]) as [never, never])));
    const key = keys.find((one) => from.ownerOf(one).index === 0 && to.ownerOf(one).index === 1)!;
    const error = await fresh
      .getClient(key)
      .get(key)
      .catch((error: Error) => error);
    expect(error).toBeInstanceOf(StoreError);
    expect(error.message).toContain('nobody can tell whether a resharding has begun');
  });
});
