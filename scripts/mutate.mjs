// Changes the lines of the protocols, one at a time, and asks the tests whether they notice.
//
//   npm run lab -- mutate                     every module, from where the last run was stopped
//   npm run lab -- mutate lease blocks        these modules
//   npm run lab -- mutate lease --fresh       forgets earlier results
//   npm run lab -- mutate lease --survivors   tries again those that survived, after a test was written
//   npm run lab -- mutate lease --slow        tries long tests, too, on those that survive the others
//   npm run lab -- mutate lease --minutes 5   stops after a while; the next run goes on
//
// Results go to coverage/mutation. Exits with 1 if a mutant survives that scripts/mutate/harmless.json does not explain.

import { parseArgs } from 'node:util';
import { loadModule, MODULE_NAMES } from './mutate/modules.mjs';
import { printReport, Results } from './mutate/results.mjs';
import { Tester } from './mutate/tester.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    fresh: { type: 'boolean', default: false },
    survivors: { type: 'boolean', default: false },
    slow: { type: 'boolean', default: false },
    minutes: { type: 'string', default: 'Infinity' },
  },
});
const names = positionals.length > 0 ? positionals : MODULE_NAMES;
const unknown = names.find((name) => !MODULE_NAMES.includes(name));
if (unknown !== undefined || !(Number(values.minutes) > 0)) {
  console.error(
    `usage: mutate [${MODULE_NAMES.join(' | ')}]… [--fresh] [--survivors] [--slow] [--minutes <number>]`,
  );
  process.exit(2);
}

/** The mutants of one run of a test file. Few enough that not much is lost when a run is stopped. */
const BATCH = 40;
const end = performance.now() + Number(values.minutes) * 60_000;
const isOver = () => performance.now() > end;

let isComplete = true;
for (const name of names) {
  const module = loadModule(name);
  const results = new Results(name, module, values);
  if (results.open().length > 0) await tryAll(name, module, results);
  isComplete &&= printReport(name, results);
}
process.exitCode = isComplete ? 0 : 1;

async function tryAll(name, module, results) {
  const tester = new Tester(name);
  try {
    for (const test of module.first) if (!(await tryTest(tester, results, test))) return;
    for (const test of module.tests) {
      if (isOver()) return;
      await observe(tester, results, test);
    }
    const slow = values.slow ? module.slow : [];
    for (const test of [...results.quickestFirst(module.tests), ...slow])
      if (!(await tryTest(tester, results, test))) return;
    results.finish();
  } finally {
    tester.stop();
  }
}

async function observe(tester, results, test) {
  if (!results.reach(test)) results.setReach(test, await tester.observe(test));
}

/** Runs a test file with the mutants that are left. @returns false if the time is over */
async function tryTest(tester, results, test) {
  await observe(tester, results, test);
  for (;;) {
    const batch = results.untried(test).slice(0, BATCH);
    if (batch.length === 0) return true;
    if (isOver()) return false;
    results.note(test, batch, await tester.run(test, results.plan(test, batch), results.limit(test)));
  }
}
