import { ShardMap } from '@idsmith/shard';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { describeWith, type RedisServer, startRedis } from '#services';
import { repeated } from '../../../idsmith/test/support/unique.ts';
import { nodeSetOf } from '../../src/config/node-set.ts';
import { Minter } from '../../src/mint/minter.ts';
import { NodeSequence } from '../../src/mint/node-sequence.ts';
import { MINT_KEYS } from '../../src/redis/scripts.ts';
import { NodeModel } from '../simulation/node-model.ts';
import { positionOf } from '../start-shards.ts';

/** One more than the nodes that are asked in turn. */
const SIZE = 65;
const LEAD = 1000;
const SKEW = 500;
const EPOCH = Date.UTC(2024, 0, 1);

/** A minter on model nodes. Their clocks and its timers stand still until the test moves them. */
function minterOnModels() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const clock = () => Date.UTC(2026, 0, 1) + performance.now();
  const nodes = Array.from({ length: SIZE }, (_, index) => {
    const address = `10.0.0.${index}:6379`;
    return { name: String(index), index, address, host: address, port: 6379, weight: 1, ringName: address };
  });
  const nodeSet = nodeSetOf({ nodes, epoch: EPOCH, maxSkew: SKEW } as never);
  /** The answers to requests for keys. */
  const replies: unknown[] = [];
  const sequences = nodes.map((node) => {
    const model = new NodeModel(node.address, clock);
    const run = async (_: string, script: string, _keys: readonly string[], args: (string | number)[]) => {
      const reply = model.execute(script, args);
      if (script === MINT_KEYS) replies.push(reply[0]);
      return reply;
    };
    return new NodeSequence({ node, run } as never, nodeSet);
  });
  return { minter: new Minter(sequences, nodeSet, 2000, { failed() {} }), replies };
}

describe('A large set of nodes that all are ahead of their clocks', () => {
  afterEach(() => void vi.useRealTimers());

  it('is asked for a key when the clocks have caught up, and not before', async () => {
    const { minter, replies } = minterOnModels();
    let keys: string[] = [];
    void minter.mint(2, 1).then((minted) => {
      keys = minted;
    });
    // New sequences begin `LEAD` and `SKEW` ahead, and no key lies more than `LEAD` ahead.
    await vi.advanceTimersByTimeAsync(SKEW);
    expect([keys, replies]).toEqual([[], []]);
    await vi.advanceTimersByTimeAsync(LEAD);
    expect([keys.length, replies]).toEqual([1, ['keys']]);
  });

  it('serves all who wait, each with keys of its own, and not those who have given up', async () => {
    const { minter } = minterOnModels();
    const given: string[] = [];
    const abort = new AbortController();
    const gaveUp = expect(minter.mint(2, 5, abort.signal)).rejects.toThrow('enough');
    const waiting = [1, 20, 3000].map((count) => minter.mint(2, count).then((keys) => given.push(...keys)));
    await vi.advanceTimersByTimeAsync(SKEW - 1);
    expect(given).toEqual([]);
    abort.abort(new Error('enough'));
    await gaveUp;
    await vi.advanceTimersByTimeAsync(10 * LEAD);
    await Promise.all(waiting);
    expect(given).toHaveLength(3021);
    expect(repeated(given)).toEqual([]);
  });
});

await describeWith(['redis'], `A set of ${SIZE} new nodes`, () => {
  let server: RedisServer;
  let map: ShardMap<Redis>;
  const clients: Redis[] = [];

  beforeAll(async () => {
    server = await startRedis({ args: ['--databases', String(SIZE)] });
    const entries = Array.from({ length: SIZE }, (_, i) => [i, ['6379', `10.0.0.${i}`]]);
    map = new ShardMap<Redis>({
      shards: Object.fromEntries(entries),
      options: { epoch: EPOCH, maxSkew: SKEW, timeout: 60_000 },
      createClient: ({ index }) => {
        const client = new Redis(server.port, '127.0.0.1', { db: index });
        clients.push(client);
        return client;
      },
    });
  });

  afterAll(async () => {
    await map?.close();
    for (const client of clients) client.disconnect();
    await server?.stop();
  });

  it('gives its first keys beyond the beginning of all sequences', async () => {
    const keys = (await Promise.all([map.genKey(), map.genKeys(undefined, 200)])).flat();
    const statuses = await Promise.all(map.sequences.map((sequence) => sequence.readStatus()));
    const begin = EPOCH + Math.max(...statuses.map(({ from }) => from));
    for (const key of keys) expect(map.getTime(key).getTime()).toBeGreaterThan(begin);
    expect(repeated(keys.map(positionOf))).toEqual([]);
  });
});
