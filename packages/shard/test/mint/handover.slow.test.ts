import { type ShardConfig, ShardMap } from '@idsmith/shard';
import { InvalidOptionError, StoreError } from 'idsmith';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { describeWith, type RedisServer } from '#services';
import { repeated } from '../../../idsmith/test/support/unique.ts';
import { handOver } from '../../src/mint/handover.ts';
import { NodeSetConflictError } from '../../src/mint/node-sequence.ts';
import { mintOnAll, positionOf, ringOf, type Shards, startShards } from '../start-shards.ts';

const SEQUENCE = '$equence';

await describeWith(['redis'], 'Another set of nodes', () => {
  let shards: Shards;
  let maps: ShardMap[] = [];

  beforeAll(async () => {
    shards = await startShards([1, 1, 1, 1, 1, 1]);
  });
  afterEach(async () => {
    await Promise.all(maps.map((map) => map.close()));
    maps = [];
  });
  afterAll(() => shards?.stop());

  /** A map on some of the servers, in that order. */
  function mapOn(servers: readonly RedisServer[], options = {}, weights?: number[]): ShardMap {
    const config: ShardConfig = {
      ...ringOf(servers, weights),
      options: { ...shards.config.options, ...options },
    };
    const map = new ShardMap(config);
    maps.push(map);
    return map;
  }

  /** Six servers, a map on the first four of them, and one on all. */
  async function fourAndSix(): Promise<{ old: ShardMap; next: ShardMap; servers: readonly RedisServer[] }> {
    const { servers } = shards;
    // A server that a test has killed comes back empty.
    await Promise.all(
      servers.map((each) => (each.pid === undefined ? each.start() : each.command('FLUSHALL'))),
    );
    return { old: mapOn(servers.slice(0, 4)), next: mapOn(servers, {}, [1, 2, 3, 4, 5, 6]), servers };
  }

  /** Mints through a map until it is told that others do, and returns what it got. */
  async function mintUntilRefused(map: ShardMap): Promise<string[]> {
    const keys: string[] = [];
    for (;;) {
      try {
        keys.push(...(await map.genKeys('user', 500)), await map.genKey());
      } catch (error) {
        if (error instanceof NodeSetConflictError) return keys;
        throw error;
      }
    }
  }

  it('mints nothing while the old one does, and leaves no trace on its nodes', async () => {
    const { old, next, servers } = await fourAndSix();
    const keys = await old.genKeys('user', 1000);
    const refused = await next.genKey().catch((error) => error);
    expect(refused).toBeInstanceOf(InvalidOptionError);
    expect(refused.message).toContain(
      `mints keys for other nodes or another epoch (127.0.0.1:${servers[0]!.port}, `,
    );
    expect(await servers[5]!.command('EXISTS', SEQUENCE)).toBe('0');
    keys.push(...(await old.genKeys('user', 1000)));
    expect(repeated(keys)).toEqual([]);
  });

  it('takes over while both are at work, and no key repeats', async () => {
    const { old, next } = await fourAndSix();
    const keys = await old.genKeys('user', 100_000);
    const late = Array.from({ length: 4 }, () => mintUntilRefused(old));
    for (let i = 0; i < 20; i++) keys.push(...(await old.genKeys('user', 100)));
    await handOver(old.sequences, next.sequences);
    // So many that they do not fit on the stack.
    for (const key of (await Promise.all(late)).flat()) keys.push(key);
    for (const key of await next.genKeys('user', 100_000)) keys.push(key);
    keys.push(...(await mintOnAll(next)));
    const refused = await old.genKey().catch((error) => error);
    expect(refused).toBeInstanceOf(NodeSetConflictError);
    expect(refused.next).toBe(next.sequences[0]!.nodeSet.fingerprint);
    expect(repeated(keys.map(positionOf))).toEqual([]);
  });

  it('takes over and gives back, again and again, and no key repeats', async () => {
    const { old, next } = await fourAndSix();
    const keys: string[] = [];
    let [from, to] = [old, next];
    for (let round = 0; round < 6; round++) {
      keys.push(...(await from.genKeys('user', 20_000)));
      await handOver(from.sequences, to.sequences);
      [from, to] = [to, from];
    }
    expect(repeated(keys)).toEqual([]);
  });

  it.each([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])(
    'takes over when it was interrupted after %d steps',
    async (steps) => {
      const { old, next } = await fourAndSix();
      const keys = await old.genKeys('user', 20_000);
      let left = steps;
      const interrupted = async () => {
        if (left-- <= 0) throw new StoreError('killed');
      };
      const breaking = (map: ShardMap) =>
        map.sequences.map((sequence) =>
          Object.create(sequence, {
            reserve: {
              value: async (generation: number) => interrupted().then(() => sequence.reserve(generation)),
            },
            close: {
              value: async (...args: [string, number]) => interrupted().then(() => sequence.close(...args)),
            },
            adopt: {
              value: async (...args: [number, number]) => interrupted().then(() => sequence.adopt(...args)),
            },
            readStatus: { value: () => sequence.readStatus() },
            node: { value: sequence.node },
          }),
        );
      await expect(handOver(breaking(old), breaking(next))).rejects.toThrow('killed');
      await handOver(old.sequences, next.sequences);
      keys.push(...(await next.genKeys('user', 20_000)), ...(await next.genKeys('user', 20_000)));
      await handOver(old.sequences, next.sequences);
      keys.push(...(await next.genKeys('user', 20_000)));
      expect(repeated(keys)).toEqual([]);
      await expect(old.genKey()).rejects.toBeInstanceOf(NodeSetConflictError);
    },
  );

  it('takes over where a node has forgotten its sequence before, meanwhile and afterwards', async () => {
    const { old, next, servers } = await fourAndSix();
    const keys = await old.genKeys('user', 20_000);
    await servers[1]!.command('DEL', SEQUENCE);
    await servers[2]!.restart({ empty: true });
    const late = mintUntilRefused(old);
    await handOver(old.sequences, next.sequences);
    for (const key of await late) keys.push(key);
    await servers[0]!.command('DEL', SEQUENCE);
    await servers[5]!.restart({ empty: true });
    keys.push(...(await next.genKeys('user', 20_000)));
    // Those who knew nothing of it are told by the nodes that remember.
    await expect(mapOn(servers.slice(0, 4)).genKey()).rejects.toBeInstanceOf(NodeSetConflictError);
    keys.push(...(await mintOnAll(next)));
    expect(repeated(keys)).toEqual([]);
  });

  it('begins beyond the old one also on nodes that an interrupted handover has not reached, whatever their clocks say', async () => {
    const { old, next } = await fourAndSix();
    await old.genKey();
    // The clock of an old node was ahead by an hour, and so are its keys.
    const HOUR = 3_600_000;
    const bases: number[] = [];
    for (const [i, sequence] of next.sequences.entries()) {
      const adopt = sequence.adopt.bind(sequence);
      vi.spyOn(sequence, 'adopt').mockImplementation((base, generation) => {
        if (i >= 4) throw new StoreError('cut off');
        bases.push(base + HOUR);
        return adopt(base + HOUR, generation);
      });
    }
    await expect(handOver(old.sequences, next.sequences)).rejects.toThrow('cut off');
    vi.restoreAllMocks();
    await next.genKey().catch(() => {});
    const statuses = await Promise.all(next.sequences.map((sequence) => sequence.readStatus()));
    for (const { state, from } of statuses) {
      expect(state).toBe('open');
      expect(from).toBeGreaterThanOrEqual(Math.max(...bases));
    }
  });

  it('does not begin on its new nodes alone while the old ones cannot be asked', async () => {
    const { old, servers } = await fourAndSix();
    const next = mapOn(servers, { timeout: 300 });
    await old.genKey();
    for (const server of servers.slice(0, 4)) server.pause();
    const refused = await next.genKey().catch((error) => error);
    for (const server of servers.slice(0, 4)) server.resume();
    expect(refused).toBeInstanceOf(StoreError);
    for (const { port } of servers.slice(0, 4)) expect(refused.message).toContain(`127.0.0.1:${port}`);
  });

  it('does not take over while an old node cannot be asked, unless that one is said to be gone', async () => {
    const { old, next, servers } = await fourAndSix();
    const keys: string[] = [];
    // The node that is lost was further ahead than all the others.
    do for (const key of await old.genKeys('user', 100_000)) keys.push(key);
    while (old.virtualShardOf(keys.at(-1)!) !== 3);
    await servers[3]!.kill();
    const { address } = old.nodes[3]!;
    await expect(handOver(old.sequences, next.sequences)).rejects.toThrow(`node ${address}`);
    const five = mapOn(servers.filter((server) => server !== servers[3]));
    await handOver(old.sequences, five.sequences, { gone: [address] });
    for (let i = 0; i < 5; i++) keys.push(...(await five.genKeys('user', 50_000)));
    expect(repeated(keys)).toEqual([]);
  });

  it('is a third one: it does not take over what is handed to another', async () => {
    const { old, next, servers } = await fourAndSix();
    const third = mapOn(servers.slice(0, 5));
    await old.genKey();
    await handOver(old.sequences, next.sequences);
    await expect(handOver(old.sequences, third.sequences)).rejects.toBeInstanceOf(NodeSetConflictError);
    await handOver(next.sequences, third.sequences);
    expect(await third.genKey()).toHaveLength(11);
  });

  it('is not what has other weights only: both mint at the same time', async () => {
    const { old, servers } = await fourAndSix();
    const heavier = mapOn(servers.slice(0, 4), {}, [4, 3, 2, 1]);
    const keys = (await Promise.all([old.genKeys('user', 5000), heavier.genKeys('user', 5000)])).flat();
    expect(repeated(keys)).toEqual([]);
  });

  it.each([
    [
      'another order',
      (servers: readonly RedisServer[]) => mapOn([servers[1]!, servers[0]!, ...servers.slice(2, 4)]),
    ],
    ['another epoch', (servers: readonly RedisServer[]) => mapOn(servers.slice(0, 4), { epoch: 0 })],
    ['another skew', (servers: readonly RedisServer[]) => mapOn(servers.slice(0, 4), { maxSkew: 10 })],
    ['one node exchanged', (servers: readonly RedisServer[]) => mapOn([...servers.slice(0, 3), servers[5]!])],
  ])('is what has %s, and is refused', async (_, other) => {
    const { old, servers } = await fourAndSix();
    await old.genKey();
    await expect(other(servers).genKey()).rejects.toBeInstanceOf(NodeSetConflictError);
  });

  it('has the same epoch, or is refused', async () => {
    const { old, servers } = await fourAndSix();
    const earlier = mapOn(servers, { epoch: 5 });
    await expect(handOver(old.sequences, earlier.sequences)).rejects.toThrow(
      /^epoch must stay 1325404800000, not become 5/,
    );
  });
});
