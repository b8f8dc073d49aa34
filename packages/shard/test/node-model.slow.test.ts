import { createClient } from 'redis';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith, type RedisServer, startRedis } from '#services';
import { SeededRandom } from '../../idsmith/test/simulation/random.ts';
import {
  ADOPT_NODE_SEQUENCE,
  CLOSE_NODE_SEQUENCE,
  MINT_KEYS,
  OPEN_NODE_SEQUENCE,
  PREPARE_NODE_SEQUENCE,
  READ_NODE_SEQUENCE,
  RESERVE_NODE_SEQUENCE,
  WITHDRAW_NODE_SEQUENCE,
} from '../src/redis/scripts.ts';
import { NodeModel, type SequenceHash } from './simulation/node-model.ts';

const KEY = '$equence';
const EPOCH = 1325404800000;
/** Short, so that the clock catches up with lost sequences between two faults, even on a quick machine. */
const [LEAD, SKEW] = [10, 2];
const STEPS = 3000;

type Args = (string | number)[];

/** A script and the arguments of its own, at random. */
function anyStep(random: SeededRandom, now: number): [string, Args] {
  const base = now + random.between(-50, 20);
  const generation = random.between(1, 4);
  return random.pick<[string, Args]>([
    [READ_NODE_SEQUENCE, []],
    [PREPARE_NODE_SEQUENCE, [generation]],
    [WITHDRAW_NODE_SEQUENCE, [random.pick(['pending', 'reserved'])]],
    [OPEN_NODE_SEQUENCE, [base, generation]],
    [OPEN_NODE_SEQUENCE, [base, generation]],
    ...(random.chance(0.3) ? ([[RESERVE_NODE_SEQUENCE, [generation]]] as [string, Args][]) : []),
    ...(random.chance(0.3)
      ? ([[CLOSE_NODE_SEQUENCE, [random.pick(['one', 'other']), generation]]] as [string, Args][])
      : []),
    [ADOPT_NODE_SEQUENCE, [base, generation + random.between(0, 2)]],
    ...Array.from({ length: 12 }, (): [string, Args] => [MINT_KEYS, anyMint(random, now)]),
  ]);
}

function anyMint(random: SeededRandom, now: number): Args {
  const count = random.pick([1, 7, 700, 4000, 2_000_000]);
  const above = random.pick([0, now + random.between(-30, 15)]);
  const sure = random.chance(0.6) ? ['sure', now + random.between(-20, 30)] : ['unsure'];
  return [random.pick([1, 3, 64]), count, above, ...sure];
}

await describeWith(['redis'], 'the model of a node', () => {
  let server: RedisServer;
  let client: ReturnType<typeof createClient>;

  beforeAll(async () => {
    server = await startRedis();
    client = createClient({ url: server.url });
    await client.connect();
  });

  afterAll(async () => {
    client?.destroy();
    await server?.stop();
  });

  const serverId = async () => /master_replid:(\w+)/.exec(await client.info('replication'))?.[1] as string;

  /** The hash in Redis, in the form of the model. */
  async function storedHash(): Promise<SequenceHash | undefined> {
    const { sum: _, ...fields } = await client.hGetAll(KEY);
    if (fields.ring === undefined) return undefined;
    const [generation, from, ms, variant] = [fields.generation, fields.from, fields.ms, fields.variant].map(
      Number,
    );
    return { ...fields, generation, from, ms, variant } as unknown as SequenceHash;
  }

  it(`answers and writes what a Redis does, in ${STEPS} random steps`, { timeout: 180_000 }, async () => {
    const random = new SeededRandom(1);
    let now = 0;
    const model = new NodeModel(await serverId(), () => now + EPOCH);
    const kinds = new Map<string, number>();
    let snapshot: Record<string, string> = {};

    /** Things that happen to a node besides scripts. */
    const faults: (() => Promise<void>)[] = [
      async () => void (await client.del(KEY)),
      async () => void (await client.del(KEY)),
      async () => void (await client.hSet(KEY, { ring: 'one', ms: '5' })),
      async () => {
        snapshot = await client.hGetAll(KEY);
      },
      async () => {
        await client.del(KEY);
        if (snapshot.ring !== undefined) await client.hSet(KEY, snapshot);
      },
      // A server that is promoted takes a new replication id, as one that restarts does.
      async () => {
        await client.sendCommand(['REPLICAOF', '127.0.0.1', '1']);
        await client.sendCommand(['REPLICAOF', 'NO', 'ONE']);
      },
    ];

    for (let step = 0; step < STEPS; step++) {
      if (random.chance(0.08)) {
        await random.pick(faults)();
        model.server = await serverId();
        model.hash = await storedHash();
        // A hash that somebody has changed by hand counts as none, once a script has looked at its checksum.
        if (model.hash?.ms === 5) model.hash = undefined;
      }
      const estimate = Date.now() - EPOCH;
      const [script, own] = anyStep(random, estimate);
      const seen = random.chance(0.8) ? 0 : estimate + random.between(-20, 15);
      const place = random.pick(['1', '1', '1', '0', '1 check']);
      const args = [
        random.pick(['one', 'one', 'one', 'other']),
        'a, b',
        EPOCH,
        LEAD,
        SKEW,
        seen,
        place,
        ...own,
      ];
      const reply = (await client.eval(script, { keys: [KEY], arguments: args.map(String) })) as unknown[];
      const isReserved = reply[0] === 'keys' || reply[0] === 'wait';
      now = Number(isReserved ? reply[2] : reply[8]);
      const before = model.hash;
      expect(model.execute(script, args).map(String), `step ${step}: ${args}`).toEqual(reply.map(String));
      const stored = await storedHash();
      if (before !== model.hash || stored?.ms !== 5)
        expect(model.hash, `step ${step}: ${args}`).toEqual(stored);
      kinds.set(String(reply[0]), (kinds.get(String(reply[0])) ?? 0) + 1);
    }
    // Every kind of answer has come.
    for (const kind of ['missing', 'own', 'foreign', 'misplaced', 'keys', 'wait'])
      expect(kinds.get(kind), kind).toBeGreaterThan(10);
  });
});
