// npm run chaos -- --store NAME --minutes N [--seed S]: torments processes that mint with leases from a private store,
// and exits with 1 if anything was wrong. Without --store, all of them in turn.

import { register } from 'node:module';
import { parseArgs } from 'node:util';

register('../test/chaos/typescript.mjs', import.meta.url);
const { runChaos, showReport, STORES } = await import('../test/chaos/orchestrator.ts');

const { values } = parseArgs({
  options: {
    store: { type: 'string' },
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    verbose: { type: 'boolean', default: false },
  },
});
const stores = values.store === undefined ? Object.keys(STORES) : [values.store];
const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
if (
  !stores.every((name) => name in STORES) ||
  !(minutes >= 0 && minutes <= 600) ||
  !Number.isSafeInteger(seed)
) {
  console.error(`usage: npm run chaos -- --store ${Object.keys(STORES).join('|')} --minutes N [--seed S]`);
  process.exit(2);
}

for (const store of stores) {
  const log = values.verbose ? console.error : undefined;
  const report = await runChaos(store, { seed, seconds: 60 * minutes, ...(log && { log }) });
  console.log(showReport(report));
  if (report.problems.length > 0) process.exitCode = 1;
}
