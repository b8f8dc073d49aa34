import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  abortReshard,
  planReshard,
  reshard,
  type ShardConfig,
  ShardMap,
  TransitionMap,
} from '@idsmith/shard';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { describeWith, type RedisServer } from '#services';
import { repeated } from '../../../idsmith/test/support/unique.ts';
import { handOver } from '../../src/mint/handover.ts';
import { type NodeSequence, NodeSetConflictError } from '../../src/mint/node-sequence.ts';
import { positionOf, ringOf, type Shards, startShards } from '../start-shards.ts';

const SEQUENCE = '$equence';
/** The most turns that two configs mint side by side. */
const MAX_TURNS = 500;

await describeWith(['redis'], 'Two node sets without a common node', () => {
  let shards: Shards;
  let [a, b, c, d] = [] as unknown as [RedisServer, RedisServer, RedisServer, RedisServer];
  const maps: ShardMap[] = [];

  beforeEach(async () => {
    shards = await startShards([1, 1, 1, 1], {}, { persistence: 'aof' });
    [a, b, c, d] = shards.servers as [RedisServer, RedisServer, RedisServer, RedisServer];
  });

  afterEach(async () => {
    await Promise.all(maps.splice(0).map((map) => map.close()));
    await shards.stop();
  });

  function configOf(servers: readonly RedisServer[], more: Partial<ShardConfig> = {}): ShardConfig {
    return { ...ringOf(servers), options: shards.config.options!, ...more };
  }

  /** The map of a process that has just started. */
  function start(servers: readonly RedisServer[], more: Partial<ShardConfig> = {}): ShardMap {
    const map = new ShardMap(configOf(servers, more));
    maps.push(map);
    return map;
  }

  /** Keys of a map; none when it is refused. */
  async function mint(map: ShardMap, count = 3000): Promise<string[]> {
    return map.genKeys('user', count).catch((error) => {
      if (error instanceof NodeSetConflictError) return [];
      throw error;
    });
  }

  const generationOf = async (server: RedisServer) =>
    Number(await server.command('HGET', SEQUENCE, 'generation'));
  const stateOf = (server: RedisServer) => server.command('HGET', SEQUENCE, 'state');

  /** Processes of both in turn, until both have minted the same milliseconds, or one is refused. */
  async function mintSideBySide(one: ShardMap, other: ShardMap): Promise<string[]> {
    const keys: string[] = [];
    const timeOf = (key: string) => one.getTime(key).getTime();
    let first: number | undefined;
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      const [mine, theirs] = await Promise.all([mint(one), mint(other)]);
      for (const key of [...mine, ...theirs]) keys.push(key);
      if (mine.length === 0 || theirs.length === 0) return keys;
      first ??= Math.max(timeOf(mine[0]!), timeOf(theirs[0]!));
      if (Math.min(timeOf(mine.at(-1)!), timeOf(theirs.at(-1)!)) > first + 100) return keys;
    }
    throw new Error('the two did not meet');
  }

  function expectUnique(keys: readonly string[]): void {
    expect(keys.length).toBeGreaterThan(3000);
    expect(repeated(keys.map(positionOf))).toEqual([]);
  }

  /** A handover that is killed after the old nodes were closed, and before a new one was opened. */
  async function killInTheGap(from: readonly NodeSequence[], to: readonly NodeSequence[]): Promise<void> {
    const killed = to.map((sequence) =>
      Object.create(sequence, {
        adopt: { value: async () => Promise.reject(new Error('killed')) },
        readStatus: { value: () => sequence.readStatus() },
        reserve: { value: (generation: number) => sequence.reserve(generation) },
      }),
    );
    await expect(handOver(from, killed)).rejects.toThrow('killed');
  }

  it('repeat nothing when the handover is killed, the new one mints in the gap, and the old one is emptied', async () => {
    const keys = await mint(start([a]));
    await killInTheGap(start([a]).sequences, start([b]).sequences);
    keys.push(...(await mint(start([b]))));
    await handOver(start([a]).sequences, start([b]).sequences);
    expect(await generationOf(b)).toBeGreaterThan(1);
    await a.restart({ empty: true });
    expectUnique([...keys, ...(await mintSideBySide(start([a]), start([b])))]);
  });

  it('wait for the end of a handover that was killed: the error says how to continue', async () => {
    await mint(start([a]));
    await killInTheGap(start([a]).sequences, start([b, c]).sequences);
    expect([await stateOf(a), await stateOf(b), await stateOf(c)]).toEqual([
      'closed',
      'reserved',
      'reserved',
    ]);
    await expect(start([b, c]).genKey()).rejects.toThrow(
      /waits for a resharding to .* run that resharding again/,
    );
    await handOver(start([a]).sequences, start([b, c]).sequences);
    expect(await mint(start([b, c]))).toHaveLength(3000);
  });

  it('mint in a new generation when the new one began in the gap, on a node that has forgotten the handover', async () => {
    const keys = await mint(start([a]));
    await killInTheGap(start([a]).sequences, start([b]).sequences);
    await b.command('FLUSHALL');
    const early = start([b]);
    keys.push(...(await mint(early)));
    expect(await generationOf(b)).toBe(1);
    const { mintedBefore } = await planReshard(start([a]), start([b]));
    expect(mintedBefore).toEqual([`127.0.0.1:${b.port}`]);
    expect((await reshard(start([a]), start([b]))).mintedBefore).toEqual(mintedBefore);
    expect(await generationOf(b)).toBe(2);
    await a.restart({ empty: true });
    expectUnique([...keys, ...(await mintSideBySide(start([a]), early))]);
  });

  it('are as before when a resharding is given up that had reserved the new nodes only', async () => {
    const keys = await mint(start([a]));
    const killed = start([a]).sequences.map((sequence) =>
      Object.create(sequence, {
        close: { value: async () => Promise.reject(new Error('killed')) },
        readStatus: { value: () => sequence.readStatus() },
      }),
    );
    await expect(handOver(killed, start([b, c]).sequences)).rejects.toThrow('killed');
    expect([await stateOf(a), await stateOf(b), await stateOf(c)]).toEqual(['open', 'reserved', 'reserved']);
    keys.push(...(await mint(start([a]))));
    await abortReshard(start([a]), start([b, c]));
    for (const server of [b, c]) expect(await server.command('EXISTS', SEQUENCE)).toBe('0');
    keys.push(...(await mint(start([a]))));
    await reshard(start([a]), start([d]));
    expectUnique([...keys, ...(await mint(start([d])))]);
  });

  it('and takesOver: the new one mints nothing before its resharding, and at once after it', async () => {
    const later = start([b, c], { takesOver: true });
    await expect(later.genKey()).rejects.toThrow('minting was not handed over');
    const keys = await mint(start([a]));
    await expect(later.genKey()).rejects.toBeInstanceOf(NodeSetConflictError);
    for (const server of [b, c]) expect(await server.command('DBSIZE')).toBe('0');
    const { mayMintEarly } = await planReshard(start([a]), start([b, c], { takesOver: true }));
    expect(mayMintEarly).toBe(false);
    await reshard(start([a]), start([b, c], { takesOver: true }));
    keys.push(...(await mint(later)), ...(await mint(start([b, c], { takesOver: true }))));
    await b.restart({ empty: true });
    keys.push(...(await mint(later)), ...(await mint(start([b, c], { takesOver: true }))));
    expectUnique(keys);
    expect(keys).toHaveLength(15_000);
    // Nobody knows any more that they took over, so only the operator can say so.
    await Promise.all([b, c].map((server) => server.command('FLUSHALL')));
    await expect(start([b, c], { takesOver: true }).genKey()).rejects.toThrow('run it again');
    await reshard(start([a]), start([b, c]));
    expect(await mint(start([b, c], { takesOver: true }))).toHaveLength(3000);
  });

  it('and takesOver: the new one does not join processes that began without it', async () => {
    await mint(start([b]));
    await expect(start([b], { takesOver: true }).genKey()).rejects.toThrow('minting was not handed over');
  });

  it('are told apart when the new one has minted before its resharding: it says so, and nothing repeats from then on', async () => {
    await mint(start([a]));
    const early = start([b]);
    await mint(early);
    const plan = await planReshard(start([a]), start([b]));
    expect(plan).toMatchObject({ mintedBefore: [`127.0.0.1:${b.port}`], mayMintEarly: true });
    expect(await generationOf(b)).toBe(1);
    const { mintedBefore } = await reshard(start([a]), start([b]));
    expect(mintedBefore).toEqual([`127.0.0.1:${b.port}`]);
    expect(await generationOf(b)).toBe(2);
    expect(await planReshard(start([a]), start([b]))).toMatchObject({
      mintedBefore: [],
      mayMintEarly: false,
    });
    const keys = await mint(early);
    await a.restart({ empty: true });
    expectUnique([...keys, ...(await mintSideBySide(start([a]), early))]);
  });

  it('repeat nothing while each goes on without a node that is down', async () => {
    const keys = await mint(start([a, b]));
    await handOver(start([a, b]).sequences, start([c, d]).sequences);
    keys.push(...(await mint(start([c, d]))));
    await Promise.all([a, b].map((server) => server.command('FLUSHALL')));
    const [old, next] = [start([a, b]), start([c, d])];
    keys.push(...(await mint(old)), ...(await mint(next)));
    await Promise.all([b.kill(), d.kill()]);
    expectUnique([...keys, ...(await mintSideBySide(old, next))]);
  });

  it('and acceptOlder after the end: an old node that came back as it was gives keys and minting away again', async () => {
    const old = start([a]);
    const keys = await mint(old, 60);
    for (const key of keys) await old.getClient(key).set(key, 'old');
    await a.shutdown();
    const [data, copy] = [join(a.dir, 'data'), join(a.dir, 'copy')];
    cpSync(data, copy, { recursive: true });
    await a.start();
    await reshard(start([a]), start([b]));
    const next = start([b]);
    await next.getClient(keys[0]!).set(keys[0]!, 'new');
    keys.push(...(await mint(next)));
    await a.shutdown();
    rmSync(data, { recursive: true });
    cpSync(copy, data, { recursive: true });
    await a.start();

    const both = await mintSideBySide(start([a]), next);
    const acceptOlder = [`127.0.0.1:${a.port}`];
    for (const run of [planReshard, reshard])
      await expect(run(start([a]), start([b]))).rejects.toThrow(`--accept-older ${acceptOlder}`);
    await reshard(start([a]), start([b]), { acceptOlder });
    expect(await next.getClient(keys[0]!).get(keys[0]!)).toBe('new');
    expect(await next.getClient(keys[1]!).get(keys[1]!)).toBe('old');
    expect(await mint(start([a]))).toEqual([]);
    expectUnique([...keys, ...both, ...(await mint(next))]);
  });

  it('do not both begin by a map in transition, when minting has gone elsewhere', async () => {
    const map = new TransitionMap(configOf([a]), configOf([b]));
    maps.push(map);
    const keys = await mint(map);
    await handOver(start([a]).sequences, start([c]).sequences);
    const other = mint(start([c]));
    await expect(map.genKey('user', { signal: AbortSignal.timeout(3000) })).rejects.toThrow();
    expect(await b.command('EXISTS', SEQUENCE)).toBe('0');
    keys.push(...(await other));
    expectUnique(keys);
  });
});
