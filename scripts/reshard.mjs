// npm run lab -- reshard [--to ring|cluster] [--keys 200000] [--kills 20] [--workers 3] [--minutes 2] [--seed N]: reshards from
// four private Redis servers to six with other weights, or to a Redis Cluster, killed again and again, while processes read
// and write. Then makes rounds with nodes that crash (with their data, with older data, without), are full or lost, with slots
// that move and with aborts, for some minutes. Does both for a ring and for a cluster unless told otherwise. Exits with 1 if
// anything was wrong. A round is repeated with its seed.

import { register } from 'node:module';
import { parseArgs } from 'node:util';
import { runReshard } from '@idsmith/verify';

register('../test/typescript.mjs', import.meta.url);
const { startRedis, startRedisCluster } = await import('../test/services/index.ts');

const KINDS = ['ring', 'cluster'];
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
  console.error(
    'usage: npm run lab -- reshard --to ring|cluster --keys N --kills N --workers N --minutes N --seed N',
  );
  process.exit(2);
}
const [keys, kills, workers, minutes, seed] = numbers;

const kept = (isDurable) => (isDurable ? { persistence: 'aof' } : {});
const setup = {
  async ring(count, isDurable) {
    const servers = await Promise.all(Array.from({ length: count }, () => startRedis(kept(isDurable))));
    return { servers, stop: () => Promise.all(servers.map((server) => server.stop())) };
  },
  cluster: (isDurable) => startRedisCluster(kept(isDurable)),
};

for (const kind of values.to) {
  const print = (line) => console.log(`${kind}: ${line}`);
  const problems = await runReshard({ kind, setup, keys, kills, workers, minutes, seed, print });
  if (problems.length > 0) process.exitCode = 1;
}
