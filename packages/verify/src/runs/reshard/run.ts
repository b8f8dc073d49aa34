import { seededRandom } from '../../random.js';
import { OPTIONS, type RedisNode, type RedisNodes, ringOf } from './redis-nodes.js';

// The parts are loaded when they are used: no other run needs `ioredis` and `@idsmith/shard`.

/** Where the keys go: from a ring to another ring, or to a Redis Cluster. */
type ReshardKind = 'ring' | 'cluster';

/** Redis servers of a run, and their end. */
export interface RedisSetup {
  /** Starts a number of servers, with an append-only file each if they shall keep their data. */
  ring(
    count: number,
    isDurable: boolean,
  ): Promise<{ servers: readonly RedisNode[]; stop(): Promise<unknown> }>;
  cluster(isDurable: boolean): Promise<RedisNodes & { stop(): Promise<unknown> }>;
}

/** How long, and to where. */
export interface ReshardRunOptions {
  readonly kind: ReshardKind;
  readonly setup: RedisSetup;
  /** The number of keys that are moved while movers are killed; 0 leaves this part out. */
  readonly keys: number;
  /** The number of movers that are killed. */
  readonly kills: number;
  /** The number of processes that read and write meanwhile. */
  readonly workers: number;
  /** The time for rounds with nodes that fail; 0 leaves them out. */
  readonly minutes: number;
  /** The seed of the first round. The next round has the next seed. */
  readonly seed: number;
  /** Called with each line for people. */
  readonly print: (line: string) => void;
}

/**
 * Reshards while applications go on: first with movers that are killed again and again, then in rounds with nodes that crash, are full or
 * lost. Returns what was wrong; empty is what every run wants.
 */
export async function runReshard(options: ReshardRunOptions): Promise<string[]> {
  const problems: string[] = [];
  if (options.keys > 0) problems.push(...(await killAgainAndAgain(options)));
  if (options.minutes > 0) problems.push(...(await failAgainAndAgain(options)));
  return problems;
}

async function killAgainAndAgain({ kind, setup, keys, kills, workers, print }: ReshardRunOptions) {
  const { reshardUnderLoad } = await import('./kill-under-load.js');
  const ring = await setup.ring(kind === 'ring' ? 6 : 3, false);
  const cluster = kind === 'cluster' ? await setup.cluster(false) : undefined;
  const { servers } = ring;
  try {
    const outcome = await reshardUnderLoad({
      from: { ...ringOf(kind === 'ring' ? servers.slice(0, 4) : servers, [1, 2, 1, 3]), options: OPTIONS },
      to:
        cluster === undefined
          ? { ...ringOf(servers, [3, 1, 2, 2, 4, 1]), options: OPTIONS }
          : { cluster: { nodes: cluster.nodes.map(({ url }) => url) }, hashTags: true, options: OPTIONS },
      keys,
      kills,
      workers,
      // About as long as all the runs that are killed take together.
      longest: 1000,
      rate: Math.max(1000, Math.round((keys * 0.25) / (kills * 0.5 + 1))),
      log: print,
    });
    print(JSON.stringify(outcome, undefined, 2));
    return outcome.problems;
  } finally {
    await Promise.all([ring.stop(), cluster?.stop()]);
  }
}

async function failAgainAndAgain({ kind, setup, minutes, seed: first, print }: ReshardRunOptions) {
  const { ClusterField, RingField } = await import('./fault-field.js');
  const { CLUSTER_ROUNDS, FaultRound, ROUNDS } = await import('./fault-round.js');
  const ring = await setup.ring(kind === 'ring' ? 6 : 3, true);
  const cluster = kind === 'cluster' ? await setup.cluster(true) : undefined;
  const field = cluster === undefined ? new RingField(ring.servers) : new ClusterField(ring.servers, cluster);
  const rounds = cluster === undefined ? ROUNDS : CLUSTER_ROUNDS;
  const totals = { rounds: 0, reads: 0, writes: 0, minted: 0, failures: 0, lost: 0 };
  const faults: Record<string, number> = {};
  const problems: string[] = [];
  try {
    const until = Date.now() + minutes * 60_000;
    for (let seed = first; Date.now() < until; seed++) {
      const round = rounds[totals.rounds % rounds.length] as (typeof rounds)[number];
      const result = await new FaultRound(round, field, seededRandom(seed), 500).run();
      totals.rounds++;
      for (const name of ['reads', 'writes', 'minted', 'failures', 'lost'] as const)
        totals[name] += result[name];
      for (const [name, count] of Object.entries(result.faults)) faults[name] = (faults[name] ?? 0) + count;
      problems.push(...result.problems.map((problem) => `seed ${seed}, ${round}: ${problem}`));
      print(
        `seed ${seed}, ${round}: ${result.reads} reads, ${result.writes} writes, ${result.problems.length} problems`,
      );
      for (const problem of result.problems.slice(0, 10)) print(`  ${problem}`);
    }
    print(JSON.stringify({ ...totals, problems: problems.length, faults }, undefined, 2));
    return problems;
  } finally {
    await Promise.all([ring.stop(), cluster?.stop()]);
  }
}
