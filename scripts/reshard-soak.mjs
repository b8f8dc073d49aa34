// node scripts/reshard-soak.mjs [--keys 200000] [--kills 20] [--workers 3]: reshards from four private Redis servers to six
// with other weights, killed again and again, while processes read and write. Exits with 1 if anything was wrong.

import { register } from 'node:module';
import { parseArgs } from 'node:util';

register('../test/chaos/typescript.mjs', import.meta.url);
const { reshardUnderLoad } = await import('../packages/idsmith/test/shard/reshard/kill-under-load.ts');
const { entriesOf, startShards } = await import('../packages/idsmith/test/shard/start-shards.ts');

const { values } = parseArgs({
  options: {
    keys: { type: 'string', default: '200000' },
    kills: { type: 'string', default: '20' },
    workers: { type: 'string', default: '3' },
  },
});
const [keys, kills, workers] = [values.keys, values.kills, values.workers].map(Number);
if (![keys, kills, workers].every((number) => Number.isSafeInteger(number) && number >= 0)) {
  console.error('usage: reshard-soak --keys N --kills N --workers N');
  process.exit(2);
}

const { servers, config, stop } = await startShards([1, 1, 1, 1, 1, 1]);
try {
  const outcome = await reshardUnderLoad({
    from: { ...config, shards: entriesOf(servers.slice(0, 4), [1, 2, 1, 3]) },
    to: { ...config, shards: entriesOf(servers, [3, 1, 2, 2, 4, 1]) },
    ...{ keys, kills, workers },
    // About as long as all the runs that are killed take together.
    longest: 1000,
    rate: Math.max(1000, Math.round((keys * 0.25) / (kills * 0.5 + 1))),
    log: (line) => console.log(line),
  });
  console.log(JSON.stringify(outcome, undefined, 2));
  if (outcome.problems.length > 0) process.exitCode = 1;
} finally {
  await stop();
}
