// npm run lab -- chaos --store NAME --minutes N [--seed S]: processes mint with leases from a private store while faults come, and the
// command exits with 1 if anything was wrong. Without --store, all of them in turn.

import { register } from 'node:module';
import { parseArgs } from 'node:util';
import { runChaos, showChaosReport } from '@idsmith/verify';

register('../test/typescript.mjs', import.meta.url);
const { CHAOS_STORES } = await import('../packages/verify/test/support/private-stores.ts');

const { values } = parseArgs({
  options: {
    store: { type: 'string' },
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    verbose: { type: 'boolean', default: false },
  },
});
const stores = values.store === undefined ? Object.keys(CHAOS_STORES) : [values.store];
const [minutes, seed] = [Number(values.minutes), Number(values.seed)];
if (
  !stores.every((name) => name in CHAOS_STORES) ||
  !(minutes >= 0 && minutes <= 600) ||
  !Number.isSafeInteger(seed)
) {
  console.error(
    `usage: npm run lab -- chaos --store ${Object.keys(CHAOS_STORES).join('|')} --minutes N [--seed S]`,
  );
  process.exit(2);
}

for (const store of stores) {
  const log = values.verbose ? console.error : undefined;
  const options = { seed, seconds: 60 * minutes, ...(log && { log }) };
  const report = await runChaos(store, CHAOS_STORES[store], options);
  console.log(showChaosReport(report));
  if (report.problems.length > 0) process.exitCode = 1;
}
