// node scripts/reshard-soak.mjs [--to ring|cluster] [--keys 200000] [--kills 20] [--workers 3] [--minutes 2] [--seed N]: reshards
// from four private Redis servers to six with other weights, or to a Redis Cluster, killed again and again, while processes
// read and write. Then makes rounds with nodes that crash (with their data, with older data, without), are full or lost, with
// slots that move and with aborts, for some minutes. Does both for a ring and for a cluster unless told otherwise. Exits with 1
// if anything was wrong. A round is repeated with its seed.

import { register } from 'node:module';
import { parseArgs } from 'node:util';

register('../test/chaos/typescript.mjs', import.meta.url);
const tests = '../packages/idsmith/test/shard';
const { reshardUnderLoad } = await import(`${tests}/reshard/kill-under-load.ts`);
const { CLUSTER_ROUNDS, FaultRound, ROUNDS } = await import(`${tests}/reshard/faults-under-load.ts`);
const { ClusterField, RingField } = await import(`${tests}/reshard/fault-field.ts`);
const { RingAndCluster } = await import(`${tests}/reshard/ring-and-cluster.ts`);
const { entriesOf, startShards } = await import(`${tests}/start-shards.ts`);
const { startRedisCluster } = await import('../test/services/redis-cluster.ts');
const { seededRandom } = await import('../test/chaos/random.ts');

const KINDS = ['ring', 'cluster'];
const AOF = { persistence: 'aof' };
const { values } = parseArgs({
  options: {
    to: { type: 'string', multiple: true, default: KINDS },
    keys: { type: 'string', default: '200000' },
    kills: { type: 'string', default: '20' },
    workers: { type: 'string', default: '3' },
    minutes: { type: 'string', default: '2' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const numbers = [values.keys, values.kills, values.workers, values.minutes, values.seed].map(Number);
const isValid = numbers.every((number) => Number.isSafeInteger(number) && number >= 0);
if (!isValid || !values.to.every((kind) => KINDS.includes(kind))) {
  console.error('usage: reshard-soak --to ring|cluster --keys N --kills N --workers N --minutes N --seed N');
  process.exit(2);
}
const [keys, kills, workers, minutes, firstSeed] = numbers;

for (const kind of values.to) {
  if (keys > 0) await killAgainAndAgain(kind);
  if (minutes > 0) await failAgainAndAgain(kind);
}

async function killAgainAndAgain(kind) {
  const { from, to, stop } = kind === 'ring' ? await fourAndSix() : await ringAndCluster();
  try {
    const outcome = await reshardUnderLoad({
      ...{ from, to, keys, kills, workers },
      // About as long as all the runs that are killed take together.
      longest: 1000,
      rate: Math.max(1000, Math.round((keys * 0.25) / (kills * 0.5 + 1))),
      log: (line) => console.log(`${kind}: ${line}`),
    });
    console.log(`${kind}: ${JSON.stringify(outcome, undefined, 2)}`);
    if (outcome.problems.length > 0) process.exitCode = 1;
  } finally {
    await stop();
  }
}

async function fourAndSix() {
  const { servers, config, stop } = await startShards([1, 1, 1, 1, 1, 1]);
  const from = { ...config, shards: entriesOf(servers.slice(0, 4), [1, 2, 1, 3]) };
  return { from, to: { ...config, shards: entriesOf(servers, [3, 1, 2, 2, 4, 1]) }, stop };
}

async function ringAndCluster() {
  const both = await RingAndCluster.start();
  const [from, to] = both.portableConfigs;
  return { from, to, stop: () => both.stop() };
}

async function failAgainAndAgain(kind) {
  const isCluster = kind === 'cluster';
  const { servers, stop } = await startShards(isCluster ? [1, 1, 1] : [1, 1, 1, 1, 1, 1], {}, AOF);
  const cluster = isCluster ? await startRedisCluster(AOF) : undefined;
  const field = isCluster ? new ClusterField(servers, cluster) : new RingField(servers);
  const rounds = isCluster ? CLUSTER_ROUNDS : ROUNDS;
  const totals = { rounds: 0, reads: 0, writes: 0, minted: 0, failures: 0, lost: 0, problems: 0 };
  const faults = {};
  try {
    const until = Date.now() + minutes * 60_000;
    for (let seed = firstSeed; Date.now() < until; seed++) {
      const round = rounds[totals.rounds % rounds.length];
      const result = await new FaultRound(round, field, seededRandom(seed), 500).run();
      totals.rounds++;
      for (const name of ['reads', 'writes', 'minted', 'failures', 'lost']) totals[name] += result[name];
      for (const [name, count] of Object.entries(result.faults)) faults[name] = (faults[name] ?? 0) + count;
      totals.problems += result.problems.length;
      console.log(
        `${kind}: seed ${seed}, ${round}: ${result.reads} reads, ${result.writes} writes, ${result.problems.length} problems`,
      );
      for (const problem of result.problems.slice(0, 10)) console.log(`  ${problem}`);
    }
    console.log(`${kind}: ${JSON.stringify({ ...totals, faults }, undefined, 2)}`);
    if (totals.problems > 0) process.exitCode = 1;
  } finally {
    await Promise.all([stop(), cluster?.stop()]);
  }
}
