// npm run lab -- soak [--minutes 60 --stores memory,sqlite --processes 3 --seed N]: every family on every store under load, with
// processes that are killed, stopped and given wrong clocks, and with stores that crash and are cut off. Prints a line of
// figures a minute and a verdict, and exits with 1 if an id came twice, a family did not resume, or a process crashed.

import { mkdtempSync, rmSync } from 'node:fs';
import { register } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runSoak } from '@idsmith/verify';

register('../test/typescript.mjs', import.meta.url);
const { SOAK_STORES } = await import('../packages/verify/test/support/private-stores.ts');

const names = Object.keys(SOAK_STORES);
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    stores: { type: 'string', default: names.join(',') },
    processes: { type: 'string', default: '3' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
  },
});
const stores = values.stores.split(',');
const [minutes, processes, seed] = [values.minutes, values.processes, values.seed].map(Number);
if (
  !stores.every((name) => names.includes(name)) ||
  !(minutes > 0 && minutes <= 24 * 60) ||
  !(Number.isInteger(processes) && processes >= 2 && processes <= 20) ||
  !Number.isSafeInteger(seed)
) {
  console.error(
    `usage: npm run lab -- soak --minutes N --stores ${names.join(',')} --processes 2-20 --seed N`,
  );
  process.exit(2);
}

// An interrupted run has a verdict, too.
const interrupt = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => interrupt.abort());

const folder = mkdtempSync(join(tmpdir(), 'idsmith-soak-'));
console.log(`seed ${seed}: ${minutes} minutes with ${processes} processes on each of ${stores.join(', ')}`);
const report = await runSoak({
  folder,
  stores: Object.fromEntries(stores.map((name) => [name, SOAK_STORES[name]])),
  seconds: 60 * minutes,
  seed,
  processes,
  pause: [2000, 10_000],
  patience: { begin: 120_000, resume: 120_000 },
  print: (line) => console.log(line),
  signal: interrupt.signal,
});
if (report.problems.length === 0) rmSync(folder, { recursive: true });
else console.log(`every id is kept in ${folder}`);
process.exit(report.problems.length === 0 ? 0 : 1);
