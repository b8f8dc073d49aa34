import { createHash } from 'node:crypto';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ShardMap } from '@idsmith/shard';
import { ClockError, StoreError } from 'idsmith';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { describeWith, type RedisServer, startRedis } from '#services';
import { repeated } from '../../../idsmith/test/support/unique.ts';
import { widthOf } from '../../src/keys/variants.ts';
import { mintBoundsOf } from '../../src/mint/mint-bounds.ts';
import type { KeyRange } from '../../src/mint/node-sequence.ts';
import { type Shards, startShards } from '../start-shards.ts';

const SEQUENCE = '$equence';
const EPOCH = 1325404800000;

/** Keys of a process that has never minted before: it remembers nothing of what was. */
async function mintAnew(config: Shards['config'], count: number): Promise<string[]> {
  const map = new ShardMap(config);
  try {
    return await map.genKeys('user', count);
  } finally {
    await map.close();
  }
}

async function withRedis<T>({ url }: RedisServer, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url);
  try {
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}

/** Writes a sequence that is whole in itself but stands elsewhere, as one that a wrong clock has left behind. */
function moveSequence(server: RedisServer, ms: number): Promise<void> {
  return withRedis(server, async (redis) => {
    const sequence = await redis.hgetall(SEQUENCE);
    const { ring, state, next, generation, server: id, from } = sequence;
    const text = `${[ring, state, next, generation, id, from, ms, 0].join(' ')} `;
    const sum = createHash('sha1').update(text).digest('hex');
    await redis.hset(SEQUENCE, { ms: String(ms), variant: '0', sum });
  });
}

await describeWith(['redis'], 'A node that has forgotten what it minted', () => {
  let shards: Shards;

  /** Reserves all keys that the node may give now, makes it forget, and mints again at once. */
  async function expectNoneAgain(fault: (server: RedisServer) => Promise<unknown>): Promise<void> {
    const map = new ShardMap(shards.config);
    await map.genKey();
    const all = (await map.sequences[0]!.mint(10_000_000, 0, mintBoundsOf([], 0))) as KeyRange;
    const { span } = all;
    const width = widthOf(span);
    const first = all.ms * width + all.variant - span.first;
    await map.close();
    await fault(shards.servers[0]!);
    const positions = (await mintAnew(shards.config, 10_000)).map((key) => {
      const digits = map.toDecimalString(key);
      const variant = Number(digits.slice(-8, -4));
      expect(variant >= span.first && variant <= span.last).toBe(true);
      return Number(digits.slice(0, -8)) * width + variant - span.first;
    });
    expect(all.count).toBeGreaterThan(0);
    expect(positions.filter((position) => position >= first && position < first + all.count)).toEqual([]);
    expect(new Set(positions).size).toBe(10_000);
  }

  beforeAll(async () => {
    shards = await startShards([1], {}, { persistence: 'aof' });
  });

  afterAll(() => shards?.stop());

  const faults: [string, (server: RedisServer) => Promise<unknown>][] = [
    ['its sequence was deleted', (server) => server.command('DEL', SEQUENCE)],
    ['all was flushed', (server) => server.command('FLUSHALL')],
    ['its sequence was reset as that of Shardjs', (server) => server.command('SET', SEQUENCE, 0)],
    ['its time was set back by hand', (server) => server.command('HSET', SEQUENCE, 'ms', 0)],
    ['its variant was set back by hand', (server) => server.command('HSET', SEQUENCE, 'variant', 0)],
    ['a field was deleted', (server) => server.command('HDEL', SEQUENCE, 'server')],
    ['it was let expire', (server) => server.command('PEXPIRE', SEQUENCE, 0)],
    ['the server was restarted without its data', (server) => server.restart({ empty: true })],
    ['the server was restarted with its data', (server) => server.restart()],
  ];

  it.each(faults)('because %s mints no key again', async (_, fault) => {
    await expectNoneAgain(fault);
  });

  it('mints no key again when it happens ten times in a row, whatever was minted in between', async () => {
    const keys: string[] = [];
    for (let round = 0; round < 10; round++) {
      await shards.servers[0]!.command('DEL', SEQUENCE);
      for (const key of await mintAnew(shards.config, 20_000 * (round % 3) + 1)) keys.push(key);
    }
    expect(repeated(keys)).toEqual([]);
  });

  it('mints no key again when the server comes back with older data', async () => {
    const [server] = shards.servers as [RedisServer];
    const [data, copy] = [join(server.dir, 'data'), join(server.dir, 'copy')];
    await server.shutdown();
    cpSync(data, copy, { recursive: true });
    await server.start();
    await expectNoneAgain(async () => {
      await server.shutdown();
      rmSync(data, { recursive: true });
      cpSync(copy, data, { recursive: true });
      await server.start();
    });
  });

  it('goes on beyond what a process has seen, when an old copy of its sequence is put back', async () => {
    const [server] = shards.servers as [RedisServer];
    const map = new ShardMap(shards.config);
    const keys = await map.genKeys('user', 1000);
    await withRedis(server, (redis) => redis.copy(SEQUENCE, 'copy'));
    for (const key of await map.genKeys('user', 100_000)) keys.push(key);
    await withRedis(server, (redis) => redis.copy('copy', SEQUENCE, 'REPLACE'));
    for (const key of await map.genKeys('user', 100_000)) keys.push(key);
    expect(repeated(keys)).toEqual([]);
    await map.close();
  });

  it('is a StoreError when the name of its sequence is taken by something else, which stays', async () => {
    const [server] = shards.servers as [RedisServer];
    await server.command('DEL', SEQUENCE);
    await server.command('RPUSH', SEQUENCE, 'mine');
    await expect(mintAnew(shards.config, 1)).rejects.toBeInstanceOf(StoreError);
    await expect(mintAnew(shards.config, 1)).rejects.toThrow(/\$equence holds a list/);
    expect(await server.command('LLEN', SEQUENCE)).toBe('1');
    await server.command('DEL', SEQUENCE);
    await server.command('HSET', SEQUENCE, 'name', 'mine');
    await expect(mintAnew(shards.config, 1)).rejects.toThrow(/\$equence holds a hash that is not a sequence/);
    expect(await server.command('HGET', SEQUENCE, 'name')).toBe('mine');
    await server.command('DEL', SEQUENCE);
    expect(await mintAnew(shards.config, 1)).toHaveLength(1);
  });

  it('waits as long as its clock may have been wrong before it mints', async () => {
    const config = { ...shards.config, options: { ...shards.config.options, maxSkew: 400, seqname: '$kew' } };
    const started = performance.now();
    await mintAnew(config, 1);
    expect(performance.now() - started).toBeGreaterThan(390);
  });
});

await describeWith(['redis'], 'A replica that lags and replaces its master', () => {
  it('mints no key that the master has minted', async () => {
    const [master, replica] = await Promise.all([startRedis(), startRedis()]);
    await replica.command('REPLICAOF', '127.0.0.1', master.port);
    const info = () => replica.command('INFO', 'replication');
    await expect.poll(info).toContain('master_link_status:up');
    // The node keeps its address; who answers there changes.
    let current = master;
    const clients: Redis[] = [];
    const mint = (count: number) => {
      const createClient = () => {
        clients.push(new Redis(current.url));
        return clients.at(-1)!;
      };
      const options = { maxSkew: 50, keyTypes: { user: 2 } };
      return mintAnew({ shards: { 0: ['6379', 'redis.example', 1] }, options, createClient } as never, count);
    };
    const keys = await mint(1000);
    await expect.poll(() => replica.command('EXISTS', '$EQUENCE')).toBe('1');
    await replica.command('REPLICAOF', 'NO', 'ONE');
    for (const key of await mint(100_000)) keys.push(key);
    current = replica;
    for (const key of await mint(100_000)) keys.push(key);
    expect(repeated(keys)).toEqual([]);
    await replica.command('REPLICAOF', '127.0.0.1', master.port);
    await expect.poll(info).toContain('master_link_status:up');
    await expect(mint(1)).rejects.toThrow(/redis\.example:6379: .*READONLY/);
    for (const client of clients) client.disconnect();
    await Promise.all([master.stop(), replica.stop()]);
  });
});

await describeWith(['redis'], 'A node whose clock went back', () => {
  let shards: Shards;

  beforeAll(async () => {
    shards = await startShards([1, 1]);
  });

  afterAll(() => shards?.stop());

  it('a little waits until it has caught up, and its keys go on ascending', async () => {
    const config = {
      ...shards.config,
      shards: { 0: shards.config.shards![0]! },
      options: { maxSkew: 50, seqname: SEQUENCE },
    };
    const map = new ShardMap(config);
    const before = await map.genKey();
    // So far that no busy machine gets there before the next key is asked for.
    const ahead = Date.now() - EPOCH + 3000;
    await moveSequence(shards.servers[0]!, ahead);
    const after = await map.genKey();
    expect(map.getTime(after).getTime()).toBe(EPOCH + ahead);
    expect(after > before).toBe(true);
    expect(Date.now() - EPOCH + 1001).toBeGreaterThanOrEqual(ahead);
    await map.close();
    await shards.servers[0]!.command('DEL', SEQUENCE);
  });

  it('to before the epoch of the keys is a StoreError that says so, and nothing is written', async () => {
    const epoch = Date.now() + 3_600_000;
    // The clock of this process says that the epoch has passed, that of the server does not.
    const now = vi.spyOn(Date, 'now').mockReturnValue(epoch + 1);
    const map = new ShardMap({ ...shards.config, options: { epoch, seqname: '$poch' } });
    now.mockRestore();
    await expect(map.genKey()).rejects.toBeInstanceOf(StoreError);
    await expect(map.genKey()).rejects.toThrow('the clock of this server is before the epoch');
    await map.close();
    for (const server of shards.servers) expect(await server.command('EXISTS', '$poch')).toBe('0');
  });

  it('by an hour is a ClockError that names it, and the other node mints', async () => {
    const map = new ShardMap(shards.config);
    const failures: unknown[] = [];
    map.on('node-failed', ({ node, error }) => failures.push([node.index, error.constructor, error.message]));
    await map.genKey();
    await moveSequence(shards.servers[0]!, Date.now() - EPOCH + 3_600_000);
    const keys = [];
    // A new ring is a second ahead of its clocks, and stays with one node until they have caught up.
    while (failures.length === 0) keys.push(await map.genKey());
    for (let i = 0; i < 10; i++) keys.push(await map.genKey());
    expect(new Set(keys.map((key) => map.virtualShardOf(key)))).toEqual(new Set([1]));
    const { address } = map.nodes[0]!;
    expect(failures[0]).toEqual([
      0,
      ClockError,
      expect.stringContaining(`node ${address}: its sequence is 3`),
    ]);
    await moveSequence(shards.servers[1]!, Date.now() - EPOCH + 3_600_000);
    await expect(map.genKey()).rejects.toThrow(
      /no node can mint keys: .*ahead of its clock.*ahead of its clock/,
    );
    await map.close();
  });
});

await describeWith(['redis'], 'A node that has lost its sequence and refuses to write another', () => {
  let shards: Shards;

  beforeAll(async () => {
    shards = await startShards([1, 1]);
  });
  afterAll(() => shards?.stop());

  /** Deletes the sequence of a node, which then wants a replica for every write. */
  async function refuseWrites(server: RedisServer): Promise<void> {
    await server.command('DEL', SEQUENCE);
    await server.command('CONFIG', 'SET', 'min-replicas-to-write', 1);
  }

  it('is reported with the reason of its server, and the other node mints', async () => {
    const map = new ShardMap(shards.config);
    const failures: string[] = [];
    map.on('node-failed', ({ error }) => failures.push(error.message));
    await map.genKey();
    await refuseWrites(shards.servers[1]!);
    const keys: string[] = [];
    while (failures.length === 0) keys.push(await map.genKey());
    for (let i = 0; i < 10; i++) keys.push(await map.genKey());
    expect(repeated(keys)).toEqual([]);
    for (const failure of failures) {
      expect(failure).toContain(`node 127.0.0.1:${shards.servers[1]!.port}: `);
      expect(failure).toContain('NOREPLICAS');
    }
    await refuseWrites(shards.servers[0]!);
    const error = await map.genKeys('user', 1000).catch((error) => error);
    expect(error).toBeInstanceOf(StoreError);
    expect(error.message).toContain('NOREPLICAS');
    expect(error.message).not.toContain('noeviction');
    for (const server of shards.servers) await server.command('CONFIG', 'SET', 'min-replicas-to-write', 0);
    expect(await map.genKeys('user', 3)).toHaveLength(3);
    await map.close();
  });
});

await describeWith(['redis'], 'A sequence that somebody deletes five times a second', () => {
  const [TIMEOUT, FACTOR] = [5000, 10];
  let shards: Shards;

  beforeAll(async () => {
    // A node that has lost its sequence waits for `maxSkew`: longer than the sequence ever lasts here.
    shards = await startShards([1, 1], { timeout: TIMEOUT, maxSkew: 1000 });
  });
  afterAll(() => shards?.stop());

  it.each([
    ['of the only node', [0]],
    ['of one of two nodes', [0, 1]],
  ])('%s ends calls within ten times timeout, with an error that says why', async (_, indexes) => {
    const entries = Object.entries(shards.config.shards!).filter((__, i) => indexes.includes(i));
    const config = { ...shards.config, shards: Object.fromEntries(entries) };
    const [map, other] = [new ShardMap(config), new ShardMap(config)];
    const server = shards.servers[0]!;
    let isOver = false;
    const deleting = (async () => {
      while (!isOver) {
        await server.command('DEL', SEQUENCE);
        await new Promise((resolve) => setTimeout(resolve, 200));
      }
    })();
    const began = performance.now();
    const errors = await Promise.all([map, other].map((each) => each.genKey().catch((error) => error)));
    const took = performance.now() - began;
    isOver = true;
    await deleting;
    await Promise.all([map.close(), other.close()]);
    for (const server of shards.servers) await server.command('FLUSHALL');
    for (const error of errors) {
      expect(error).toBeInstanceOf(StoreError);
      expect(error.message).toMatch(
        /^node .* loses its sequence again and again: .*check who deletes the key$/,
      );
    }
    expect(took).toBeLessThan(TIMEOUT * FACTOR);
  });
});
