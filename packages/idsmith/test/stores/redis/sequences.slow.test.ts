import { SequenceExistsError, StoreError } from 'idsmith';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, type RedisServer, startRedis } from '#services';
import { FaultyProxy } from '../../../../verify/src/proxy/faulty-proxy.ts';
import type { IoredisClient } from '../../../src/redis/client.ts';
import { partOf } from '../../../src/sequence/block.ts';
import { initStore } from '../../../src/stores/init.ts';
import { type RedisStoreOptions, redisStore } from '../../../src/stores/redis/store.ts';
import { inLockstep } from '../support/lockstep.ts';
import { drain, notBeside, scramble, startLoad } from '../support/runs.ts';

const ADVISED = {
  maxRetriesPerRequest: 1,
  autoResendUnfulfilledCommands: false,
  retryStrategy: () => 50,
};
const clients: Redis[] = [];

function connect(port: number): Redis {
  const client = new Redis(port, '127.0.0.1', ADVISED);
  client.on('error', () => {});
  clients.push(client);
  return client;
}

/** A store with a client of its own. */
const open = (port: number, options: RedisStoreOptions = {}) => redisStore(connect(port), options);

const openMany = (count: number, port: number, options?: RedisStoreOptions) =>
  Array.from({ length: count }, () => open(port, options));

await describeWith(['redis'], 'Sequences in Redis', () => {
  let server: RedisServer;

  beforeAll(async () => {
    server = await startRedis();
    await initStore(open(server.port));
  });

  afterAll(async () => {
    for (const client of clients) client.disconnect();
    await server?.stop();
  });

  it('reach 64 clients without gap or repetition, with 1.1 commands a block at most', async () => {
    const stores = openMany(64, server.port);
    await stores[0]!.defineSequence({ name: 'hot', blockSize: 7 });
    const commands = async () => {
      const stats = await server.command('INFO', 'commandstats');
      return [...stats.matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)].reduce(
        (sum, [, n]) => sum + Number(n),
        0,
      );
    };
    // The first allocation of a sequence also confirms it.
    const confirmed = await stores[0]!.allocate('hot', 1);
    const before = await commands();
    const blocks = await drain(stores, 'hot', 50);
    expect(((await commands()) - before) / blocks.length).toBeLessThan(1.1);
    blocks.push(confirmed);
    expect(notBeside(blocks, 'overlap')).toEqual([]);
    expect(notBeside(blocks, 'gap')).toEqual([]);
    expect((await stores[0]!.describeSequence('hot')).next).toBe(BigInt((64 * 50 + 1) * 7 + 1));
  });

  it('never come twice while clients allocate, give back and alter at once', async () => {
    const stores = openMany(8, server.port);
    await stores[0]!.defineSequence({ name: 'scrambled' });
    const blocks = await scramble(stores, 'scrambled', 50);
    expect(notBeside(blocks, 'overlap')).toEqual([]);
    expect(notBeside(blocks, 'gap')).toEqual([]);
  });

  it('behave as in memory, whatever the operations', async () => {
    await inLockstep(openMany(3, server.port), 30);
  });

  it('are compared in all 64 bits', async () => {
    const store = open(server.port);
    const [min, max] = [-(2n ** 63n), 2n ** 63n - 1n];
    // Starts and limits that look equal to a double, or in the wrong order to a comparison of text.
    for (const [start, limit, blocks] of [
      [2n ** 53n + 1n, 2n ** 53n + 2n, 1],
      [max - 2n, max, 1],
      [-10n, -9n, 1],
      [-9n, 10n, 10],
      [9n, 12n, 2],
      [min, min + 3n, 2],
    ] as const) {
      await store.defineSequence({ name: 'exact', start, max: limit, blockSize: 2 });
      const ids: bigint[] = [];
      for (let i = 0; i < blocks; i++) ids.push((await store.allocate('exact', 1)).first);
      expect(ids).toEqual(Array.from({ length: blocks }, (_, i) => start + BigInt(2 * i)));
      await expect(store.allocate('exact', 1)).rejects.toMatchObject({ code: 'SEQUENCE_EXHAUSTED' });
      await store.removeSequence('exact');
    }
  });

  it('jump as far as 64 bits reach', async () => {
    const store = open(server.port);
    const [min, step] = [-(2n ** 63n), 2 ** 53 - 1];
    await store.defineSequence({ name: 'wide', start: min, step, blockSize: 1025 });
    expect(await store.allocate('wide', 1)).toMatchObject({ first: min, step, count: 1025 });
    expect((await store.describeSequence('wide')).next).toBe(min + 1025n * BigInt(step));
  });

  it('are all listed, and leave nothing behind, when many define and remove one at once', async () => {
    const stores = openMany(8, server.port);
    const outcomes = stores.map(async (store) => {
      for (let round = 0; round < 25; round++) {
        await store.defineSequence({ name: 'contended' }).catch(ignore('SEQUENCE_EXISTS'));
        await store.removeSequence('contended').catch(ignore('NO_SUCH_SEQUENCE'));
      }
    });
    await Promise.all(outcomes);
    const names = async () => (await stores[0]!.listSequences()).map(({ name }) => name);
    expect(await names()).not.toContain('contended');
    expect(await server.command('HEXISTS', 'idsmith:registry', 'sequence:contended')).toBe('0');
    await stores[0]!.defineSequence({ name: 'contended' });
    expect(await names()).toContain('contended');
  });

  it('are defined once, listed, and never given twice by a client that sends each command again', async () => {
    const client = new Redis(server.port, '127.0.0.1', ADVISED);
    clients.push(client);
    const twice = async (send: () => Promise<unknown>) => {
      await send();
      return send();
    };
    const insistent: IoredisClient = {
      eval: (...args) => twice(() => client.eval(...args)),
      evalsha: (...args) => twice(() => client.evalsha(...args)),
    };
    const store = redisStore(insistent);
    const names = async () => (await store.listSequences()).map(({ name }) => name);
    await store.defineSequence({ name: 'again', blockSize: 10 });
    expect(await names()).toContain('again');
    await expect(store.defineSequence({ name: 'again' })).rejects.toBeInstanceOf(SequenceExistsError);
    expect(await names()).toContain('again');
    const blocks = await drain([store, open(server.port), store], 'again', 4);
    expect(notBeside(blocks, 'overlap')).toEqual([]);
  });

  it.each(['answers', 'everything'] as const)(
    'are lost, and not given twice, with %s on the way',
    async (loss) => {
      const name = `lost ${loss}`;
      const proxy = await FaultyProxy.before(server.port);
      const client = connect(proxy.port);
      const [store, hasty] = [redisStore(client), redisStore(client, { timeout: 1000 })];
      await store.defineSequence({ name, blockSize: 10 });
      await store.allocate(name, 1);
      // From here on its calls are one command each.
      await hasty.allocate(name, 1);
      proxy.halfOpen(loss);
      const failure = await hasty.allocate(name, 1).catch((error) => error);
      expect(failure).toBeInstanceOf(StoreError);
      expect(failure.message).toContain('no answer within 1000 ms');
      const other = open(server.port);
      const next = loss === 'answers' ? 31n : 21n;
      await expect.poll(async () => (await other.describeSequence(name)).next).toBe(next);
      const { first } = await other.allocate(name, 1);
      expect(first).toBe(next);
      proxy.cut();
      proxy.heal();
      await expect.poll(() => store.allocate(name, 1).then(({ first }) => first, String)).toBe(first + 10n);
      await proxy.close();
    },
  );
});

const ignore = (code: string) => (error: { code?: string }) => {
  if (error.code !== code) throw error;
};

await describeWith(['redis'], 'Sequences in a Redis that restarts', () => {
  const name = 'orders';

  /** A server with a used sequence `orders`. */
  async function startUsed(options?: RedisStoreOptions, args: readonly string[] = []) {
    const server = await startRedis({ persistence: options?.durable ? 'aof' : 'none', args });
    const store = open(server.port, options);
    await initStore(store);
    await store.defineSequence({ name, blockSize: 10 });
    return { server, store, blocks: [await store.allocate(name, 2)] };
  }

  const whenBack = (question: () => Promise<unknown>) =>
    expect.poll(() => question().catch((error: Error) => error.message));

  it('go on under load if it is durable', async () => {
    const { server, store } = await startUsed({ durable: true }, ['--appendfsync', 'always']);
    const load = startLoad([store, ...openMany(7, server.port, { durable: true })], name);
    await expect.poll(() => load.blocks.length).toBeGreaterThan(100);
    await server.kill();
    await expect.poll(() => load.errors.length).toBeGreaterThan(0);
    await server.restart();
    const before = load.blocks.length;
    await expect.poll(() => load.blocks.length).toBeGreaterThan(before + 100);
    expect(notBeside(await load.stop(), 'overlap')).toEqual([]);
    for (const error of load.errors) expect(error).toBeInstanceOf(StoreError);
    await server.stop();
  });

  it('are gone if it comes back empty', async () => {
    const { server, store } = await startUsed();
    await server.restart({ empty: true });
    await whenBack(() => store.allocate(name, 1)).toBe('there is no sequence "orders"');
    expect(await store.listSequences()).toEqual([]);
    await server.stop();
  });

  it('are not given out from an older state, until an alteration says where to go on', async () => {
    const { server, store, blocks } = await startUsed();
    await server.command('SAVE');
    const lost = await store.allocate(name, 3);
    blocks.push(lost);
    await server.restart();
    const error = /^redis store: this Redis has restarted, .* may have forgotten ids that sequence "orders"/;
    await whenBack(() => store.allocate(name, 1)).toMatch(error);
    const other = open(server.port);
    for (const each of [store, other]) {
      await expect(each.allocate(name, 1)).rejects.toThrow(StoreError);
      await expect(each.alterSequence(name, { blockSize: 5 })).rejects.toThrow(error);
      await expect(each.giveBack!(name, partOf(lost, 20, 10))).rejects.toThrow(error);
      expect(await each.describeSequence(name)).toMatchObject({ next: 21n, blockSize: 10 });
      expect(await each.listSequences()).toHaveLength(1);
    }
    expect(await other.alterSequence(name, { next: 51 })).toMatchObject({ next: 51n });
    blocks.push(await store.allocate(name, 1), await other.allocate(name, 1));
    expect(notBeside(blocks, 'overlap')).toEqual([]);
    expect(notBeside(blocks, 'gap')).toEqual([]);
    await other.alterSequence(name, { blockSize: 5 });
    await server.restart();
    await whenBack(() => other.allocate(name, 1)).toMatch(error);
    await server.stop();
  });

  it('stay refused if an alteration from before the restart reaches the server again afterwards', async () => {
    const { server, store } = await startUsed();
    await server.command('SAVE');
    const client = new Redis(server.port, '127.0.0.1', ADVISED);
    client.on('error', () => {});
    clients.push(client);
    let alteration: string[] = [];
    const recording: IoredisClient = {
      eval: (script, count, ...args) => client.eval(script, count, ...args),
      evalsha: (sha, count, ...args) => {
        if (args.at(-1) === '10' || args.at(-1) === '20') alteration = [sha, ...args];
        return client.evalsha(sha, count, ...args);
      },
    };
    // Two alterations: the first one loads the script, and the restart brings its state back.
    await redisStore(recording).alterSequence(name, { next: 41 });
    await server.command('SAVE');
    await redisStore(recording).alterSequence(name, { next: 51 });
    const blocks = [await store.allocate(name, 2)];
    expect(blocks[0]).toMatchObject({ first: 51n });
    await server.restart();
    await whenBack(() => store.allocate(name, 1)).toMatch(/may have forgotten/);
    // A refused alteration loads the script again, which the server has forgotten, too.
    await expect(store.alterSequence(name, { blockSize: 10 })).rejects.toThrow(/may have forgotten/);
    const [sha = '', ...args] = alteration;
    await client.evalsha(sha, 1, ...args);
    await expect(store.allocate(name, 1)).rejects.toThrow(/may have forgotten/);
    await store.alterSequence(name, { next: 71 });
    blocks.push(await store.allocate(name, 1));
    expect(notBeside(blocks, 'overlap')).toEqual([]);
    await server.stop();
  });

  it('go on beyond a limit that they had reached', async () => {
    const { server, store } = await startUsed();
    await store.alterSequence(name, { max: 20 });
    await expect(store.allocate(name, 1)).rejects.toMatchObject({ code: 'SEQUENCE_EXHAUSTED' });
    await server.command('SAVE');
    await server.restart();
    await whenBack(() => store.alterSequence(name, { max: 60 })).toMatch(/may have forgotten/);
    await store.alterSequence(name, { max: 60, next: 51 });
    expect(await store.allocate(name, 1)).toMatchObject({ first: 51n });
    await server.stop();
  });

  it('are not given out by a replica, nor by a promoted replica', async () => {
    const [old, successor] = await Promise.all([startRedis(), startRedis()]);
    await successor.command('REPLICAOF', '127.0.0.1', old.port);
    await expect.poll(() => successor.command('INFO', 'replication')).toContain('master_link_status:up');
    const [store, other] = [open(old.port), open(successor.port)];
    await initStore(store);
    await store.defineSequence({ name, blockSize: 10 });
    const blocks = [await store.allocate(name, 1)];
    const copied = () => successor.command('EXISTS', `idsmith:sequence:{${name}}`);
    await expect.poll(copied).toBe('1');
    await expect(other.allocate(name, 1)).rejects.toThrow(/READONLY/);
    await expect(other.describeSequence(name)).rejects.toThrow(/READONLY/);
    await successor.command('REPLICAOF', 'NO', 'ONE');
    blocks.push(await store.allocate(name, 1));
    await expect(other.allocate(name, 1)).rejects.toThrow(/may have forgotten/);
    await old.command('REPLICAOF', '127.0.0.1', successor.port);
    await expect(store.allocate(name, 1)).rejects.toThrow(/READONLY/);
    await other.alterSequence(name, { next: 1000 });
    blocks.push(await other.allocate(name, 1));
    expect(notBeside(blocks, 'overlap')).toEqual([]);
    await Promise.all([old.stop(), successor.stop()]);
  });
});
