import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { reshard, type ShardConfig, ShardMap } from '@idsmith/shard';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { describeWith, type RedisServer } from '#services';
import { depth } from '../../../../test/depth.ts';
import { repeated } from '../../../idsmith/test/support/unique.ts';
import { writeKeys } from '../../src/keys/codec.ts';
import { FRESH_VARIANTS, HANDOVER_UNSURE_VARIANTS } from '../../src/keys/variants.ts';
import { handOver } from '../../src/mint/handover.ts';
import { mintBoundsOf } from '../../src/mint/mint-bounds.ts';
import { mintingProofOf, type NodeSequence, NodeSetConflictError } from '../../src/mint/node-sequence.ts';
import { openSequences } from '../../src/mint/open-sequences.ts';
import { positionOf, ringOf, type Shards, startShards } from '../start-shards.ts';

type Servers = readonly RedisServer[];

/** The most turns that two configs mint side by side. */
const MAX_TURNS = 500;

const EPOCH = 1325404800000;

await describeWith(['redis'], 'An outdated config', () => {
  let shards: Shards;
  let [a, b, c] = [] as unknown as [RedisServer, RedisServer, RedisServer];
  const maps: ShardMap[] = [];

  beforeEach(async () => {
    shards = await startShards([1, 1, 1], {}, { persistence: 'aof' });
    [a, b, c] = shards.servers as [RedisServer, RedisServer, RedisServer];
  });

  afterEach(async () => {
    await Promise.all(maps.splice(0).map((map) => map.close()));
    await shards.stop();
  });

  /** The map of a process that has just started, and mints on that node first. */
  function start(servers: Servers, node = 0): ShardMap {
    const config: ShardConfig = { ...ringOf(servers), options: shards.config.options! };
    const random = vi.spyOn(Math, 'random').mockReturnValue((node + 0.5) / servers.length);
    const map = new ShardMap(config);
    random.mockRestore();
    maps.push(map);
    return map;
  }

  /** Keys of a process that has just started; none when it is told that others mint. */
  async function mint(servers: Servers, node = 0): Promise<string[]> {
    const map = start(servers, node);
    try {
      return await map.genKeys(undefined, 9000).catch(noneIfRefused);
    } finally {
      await map.close();
    }
  }

  function noneIfRefused(error: unknown): string[] {
    if (error instanceof NodeSetConflictError) return [];
    throw error;
  }

  const timeOf = (key: string | undefined) => maps[0]!.getTime(key as string).getTime();

  async function change(from: Servers, to: Servers): Promise<string[]> {
    const [old, next] = [start(from), start(to)];
    const keys = await old.genKeys(undefined, 9000);
    await reshard(old, next);
    return [...keys, ...(await next.genKeys(undefined, 9000))];
  }

  /** Processes with two configs in turn, until one is refused or both have minted the same milliseconds. */
  async function mintSideBySide(one: () => Promise<string[]>, other: () => Promise<string[]>) {
    const keys: string[] = [];
    let first: number | undefined;
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      const [mine, theirs] = [await one(), await other()];
      keys.push(...mine, ...theirs);
      if (mine.length === 0 || theirs.length === 0) return keys;
      first ??= Math.max(timeOf(mine[0]), timeOf(theirs[0]));
      if (Math.min(timeOf(mine.at(-1)), timeOf(theirs.at(-1))) > first + 100) return keys;
    }
    throw new Error('the two did not meet');
  }

  function expectUnique(keys: readonly string[]): void {
    expect(keys.length).toBeGreaterThan(9000);
    expect(repeated(keys.map(positionOf))).toEqual([]);
  }

  it('mints nothing again after its only node was restarted without data', async () => {
    let keys = await change([a], [a, b]);
    await a.restart({ empty: true });
    keys = keys.concat(
      await mintSideBySide(
        () => mint([a]),
        () => mint([a, b], 1),
      ),
    );
    expectUnique(keys);
  });

  it('mints nothing again when the new one comes first, which then keeps the node', async () => {
    const keys = await change([a], [a, b]);
    await a.restart({ empty: true });
    keys.push(...(await mint([a, b], 1)));
    expect(await mint([a])).toEqual([]);
    keys.push(...(await mint([a, b])), ...(await mint([a, b], 1)));
    expectUnique(keys);
  });

  it('mints nothing again after its only node came back as it was before', async () => {
    const data = join(a.dir, 'data');
    let keys = await start([a]).genKeys(undefined, 9000);
    await a.shutdown();
    cpSync(data, join(a.dir, 'copy'), { recursive: true });
    await a.start();
    keys.push(...(await change([a], [a, b])));
    await a.shutdown();
    rmSync(data, { recursive: true });
    cpSync(join(a.dir, 'copy'), data, { recursive: true });
    await a.start();
    keys = keys.concat(
      await mintSideBySide(
        () => mint([a]),
        () => mint([a, b], 1),
      ),
    );
    expectUnique(keys);
  });

  it('mints nothing again after both its nodes were emptied, while the third has minted all the time', async () => {
    let keys = await change([a, b], [a, b, c]);
    const current = start([a, b, c], 2);
    keys.push(...(await current.genKeys(undefined, 9000)));
    await Promise.all([a.restart({ empty: true }), b.restart({ empty: true })]);
    keys = keys.concat(
      await mintSideBySide(
        () => mint([a, b]),
        () => current.genKeys(undefined, 9000).catch(noneIfRefused),
      ),
    );
    keys = keys.concat(
      await mintSideBySide(
        () => mint([a, b], 1),
        () => mint([a, b, c], 2),
      ),
    );
    expectUnique(keys);
  });

  it('mints nothing again that nodes mint which it never had', async () => {
    const keys = [...(await change([a], [a, b])), ...(await change([a, b], [b]))];
    await a.restart({ empty: true });
    const both = await mintSideBySide(
      () => mint([a]),
      () => mint([b]),
    );
    expectUnique([...keys, ...both]);
  });

  it('mints nothing again when all nodes were emptied first, and its own once more', async () => {
    let keys = await change([a], [a, b]);
    await Promise.all([a.command('FLUSHALL'), b.command('FLUSHALL')]);
    keys.push(...(await mint([a, b], 1)));
    await a.command('FLUSHALL');
    keys = keys.concat(
      await mintSideBySide(
        () => mint([a]),
        () => mint([a, b], 1),
      ),
    );
    expectUnique(keys);
  });

  it('or never was, mints nothing again on a node that was emptied', async () => {
    let keys = await mint([a, b]);
    await a.command('FLUSHALL');
    keys = keys.concat(
      await mintSideBySide(
        () => mint([a, c]),
        () => mint([a, b], 1),
      ),
    );
    expectUnique(keys);
  });

  it('mints nothing again in whatever order nodes are emptied and processes of both come', async () => {
    const keys = await change([a], [a, b]);
    const sets: Servers[] = [[a], [a, b], [a, b, c], [a, c]];
    const running = sets.map((set) => start(set, set.length - 1));
    const mintAll = async () => {
      const found = await Promise.all([
        ...running.map((map) => map.genKeys(undefined, 500).catch(noneIfRefused)),
        ...sets.map((set) => mint(set, set.length - 1)),
      ]);
      keys.push(...found.flat());
    };
    const losses = [[a], [b], [a, b, c], [a, c], [a, b], [a]];
    for (const lost of depth > 0 ? losses : losses.slice(0, 3)) {
      await Promise.all([mintAll(), ...lost.map((server) => server.command('FLUSHALL'))]);
      // Until the clocks have reached where a node goes on that has forgotten.
      for (const until = Date.now() + 1200; Date.now() < until; ) await mintAll();
    }
    expectUnique(keys);
  });

  it('mints nothing again when the one in use was stopped just before it minted', async () => {
    const stopped = start([a, b]);
    const keys = await stopped.genKeys(undefined, 9000);
    const [first, second] = stopped.sequences as [NodeSequence, NodeSequence];
    const bounds = mintBoundsOf([mintingProofOf(await first.readStatus())], first.nodeSet.lead);
    expect(bounds).toBeDefined();
    await a.restart({ empty: true });
    const stale = await start([a]).genKeys(undefined, 90_000);
    for (let ms = 0; ms < timeOf(stale[0]) - EPOCH; ) {
      const minted = await second.mint(500, 0, bounds);
      if (minted.kind === 'refused') throw new Error('node b has forgotten, too');
      if (minted.kind === 'wait') continue;
      ms = minted.ms;
      keys.push(...writeKeys(ms, minted.variant, 2, minted.span, minted.count, 'zz'));
    }
    expectUnique([...keys, ...stale]);
  });

  it('that minted on a node meanwhile is skipped by the other nodes when the one in use has it back', async () => {
    const current = start([a, b]);
    await current.genKey();
    await a.command('FLUSHALL');
    const others = await mint([a, c], 1);
    await a.command('FLUSHALL');
    await start([a, b]).genKey();
    const [first, second] = current.sequences as [NodeSequence, NodeSequence];
    for (;;) {
      const bounds = mintBoundsOf([mintingProofOf(await first.readStatus())], first.nodeSet.lead);
      const minted = await second.mint(1, 0, bounds);
      if (minted.kind === 'wait') continue;
      if (minted.kind === 'refused') throw new Error('node b has forgotten, too');
      expect(minted.span).toEqual(FRESH_VARIANTS);
      expect(minted.ms + EPOCH).toBeGreaterThan(timeOf(others.at(-1)));
      return;
    }
  });

  it('mints nothing again while the one in use goes on without the node that is down', async () => {
    let keys = await change([a], [a, b]);
    const current = start([a, b], 1);
    await a.kill();
    const variantOf = (key: string) => Number(current.toDecimalString(key).slice(-8, -4));
    for (let i = 0; i < 3; i++) {
      const found = await current.genKeys(undefined, 1000);
      expect(found.every((key) => variantOf(key) >= HANDOVER_UNSURE_VARIANTS.first)).toBe(true);
      keys.push(...found);
    }
    await a.restart({ empty: true });
    keys = keys.concat(
      await mintSideBySide(
        () => mint([a]),
        () => current.genKeys(undefined, 1000).catch(noneIfRefused),
      ),
    );
    expectUnique(keys);
  });

  it('may come at the same time as others to empty nodes: one of them begins, and none is in the way', async () => {
    const sets: Servers[] = [[a, b], [b, a], [a]];
    for (let round = 0; round < 20; round++) {
      await Promise.all([a.command('FLUSHALL'), b.command('FLUSHALL')]);
      const keys = (await Promise.all(sets.map((set) => mint(set)))).flat();
      expect(repeated(keys.map(positionOf))).toEqual([]);
      if (keys.length === 0) expect(await mint([b, a])).toHaveLength(9000);
    }
  });

  it('that loses a race on one node leaves nothing on another node, where it was alone', async () => {
    const [slow, fast] = [start([a, b]).sequences, start([a]).sequences];
    let isThere = () => {};
    const other = new Promise<void>((resolve) => {
      isThere = resolve;
    });
    // The slow one has seen empty nodes. Before it writes anything, the fast one has written.
    const late = slow.map((sequence) =>
      Object.create(sequence, {
        readStatus: { value: () => sequence.readStatus() },
        prepare: { value: (generation: number) => other.then(() => sequence.prepare(generation)) },
        withdraw: { value: (state: 'pending') => sequence.withdraw(state) },
        open: { value: (base: number, generation: number) => sequence.open(base, generation) },
      }),
    );
    const losing = openSequences(late);
    await openSequences(fast);
    isThere();
    await expect(losing).rejects.toThrow(NodeSetConflictError);
    expect(await mint([a])).toHaveLength(9000);
    expect(await mint([b])).toHaveLength(9000);
  });

  it('is let in when the handover is interrupted and its node forgets, and the new one is not', async () => {
    const [old, next] = [start([a]), start([a, b])];
    const keys = await old.genKeys(undefined, 9000);
    // Killed between closing the old node and opening it for the new set.
    const [sequence] = next.sequences;
    const killed = Object.create(sequence!, {
      adopt: { value: async () => Promise.reject(new Error('killed')) },
      readStatus: { value: () => sequence!.readStatus() },
    });
    await expect(handOver(old.sequences, [killed, next.sequences[1]!])).rejects.toThrow('killed');
    expect(await b.command('HGET', '$equence', 'state')).toBe('reserved');
    await a.command('FLUSHALL');
    keys.push(...(await mint([a])));
    expect(await mint([a, b], 1)).toEqual([]);
    await handOver(start([a]).sequences, next.sequences);
    keys.push(...(await mint([a, b], 1)), ...(await mint([a, b])));
    expect(await mint([a])).toEqual([]);
    expectUnique(keys);
  });

  it('that was let in gives way when it is resharded to the one in use', async () => {
    const keys = await change([a], [a, b]);
    await a.restart({ empty: true });
    keys.push(...(await mint([a])));
    expect(await mint([a, b], 1)).toEqual([]);
    await reshard(start([a]), start([a, b]));
    keys.push(...(await mint([a, b], 1)), ...(await mint([a, b])));
    expect(await mint([a])).toEqual([]);
    expectUnique(keys);
  });
});
