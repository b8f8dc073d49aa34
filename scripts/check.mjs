// `npm test`: the build, checks of the code and the tests that take seconds. With --full, `npm run test:full`: tests with servers of their own,
// and the folders with lock files of their own. With --long, `npm run test:long`: what is deep rather than wide. One line a step, and the
// counts at the end.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { runVitest } from './run-vitest.mjs';

const [part = '--quick', folder] = process.argv.slice(2);

/** What everything else needs. It does nothing if `npm ci` has just built the same sources. */
const build = ['build', 'node', 'scripts/build.mjs'];

/** Checks of the code as it stands, in two lanes beside each other. Whatever packs a package is in the second. */
const lanes = [
  [
    ['types of tests and benchmarks', 'tsc', '-p', 'tsconfig.test.json'],
    ['types of the console', 'tsc', '-p', 'packages/console'],
    ['unused code and dependencies', 'knip'],
    ['format and lint', 'biome', 'check', '--error-on-warnings', '.'],
    ['Lua scripts as generated', 'node', 'scripts/build-lua.mjs', '--check'],
    ['diagrams as drawn', 'node', 'scripts/diagrams.mjs', '--check'],
    ['figures as measured', 'node', 'scripts/bench-report.mjs', '--check'],
  ],
  [
    ['package layout', 'publint', '--strict', 'packages/idsmith'],
    ['package layout of sharded keys', 'publint', '--strict', 'packages/shard'],
    ['package layout of Oracle', 'publint', '--strict', 'packages/oracle'],
    ['package layout of the fault laboratory', 'publint', '--strict', 'packages/verify'],
    ['package layout of the server', 'publint', '--strict', 'packages/server'],
    ['package layout of the Fastify plugin', 'publint', '--strict', 'packages/fastify'],
    ['package layout of the Nest module', 'publint', '--strict', 'packages/nest'],
    ['types as packed', 'attw', '--pack', 'packages/idsmith', '--profile', 'esm-only'],
    ['types of sharded keys as packed', 'attw', '--pack', 'packages/shard', '--profile', 'esm-only'],
    ['types of Oracle as packed', 'attw', '--pack', 'packages/oracle', '--profile', 'esm-only'],
    ['size budgets', 'size-limit'],
    ['weight budgets', 'node', 'scripts/weight.mjs', '--check'],
  ],
];

const counts = { passed: 0, failed: 0, skipped: 0 };

/** What failed, by name: said once more at the end, where nobody has to search for it. */
const failures = [];

/** What failed in the run and passed alone (see run-vitest.mjs). */
const unstable = [];

/** What needs hundreds of packages that nothing else does. Each installs them, and ends with its counts. */
const apart = {
  orms: ['ORMs and SQL drivers', 'test/orms', '--'],
  frameworks: ['frameworks', 'test/frameworks', 'idsmith', '@idsmith/nest', '--'],
  toolchains: ['Jest and compilers', 'test/toolchains', 'idsmith', '--'],
  workers: ['Workers', 'test/workers', 'idsmith', '@idsmith/shard', '@idsmith/verify', '--'],
};

const parts = {
  '--quick': async () => {
    await Promise.all(lanes.map(oneByOne));
    await runTests('quick', 'alone');
  },
  // What fills the machine comes last and has it for itself.
  '--full': async () => {
    await Promise.all([runTests('slow'), runApart(Object.values(apart))]);
    await runTests('heavy');
  },
  '--long': async () => {
    process.env.TEST_DEPTH ??= '1';
    await runTests('long');
    await runApart([apart.toolchains, apart.workers]);
  },
  '--apart': () => runApart([apart[folder]]),
};

// Nothing below means anything when the code does not build.
if (await check(build)) await parts[part]();
finish();

async function runTests(...projects) {
  const { passed, skipped, ...found } = await runVitest(projects.map((name) => `--project=${name}`));
  counts.passed += passed;
  counts.skipped += skipped;
  counts.failed += found.failures.length;
  failures.push(...found.failures);
  unstable.push(...found.unstable);
}

async function runApart(folders) {
  for (const [name, ...args] of folders) {
    const { ok, said } = await run(['node', 'scripts/own-lock-tests.mjs', ...args]);
    console.log(said);
    const [, passed, failed] = /^(\d+) passed, (\d+) failed$/m.exec(said) ?? [];
    counts.passed += Number(passed ?? 0);
    counts.failed += Math.max(Number(failed ?? 0), ok ? 0 : 1);
    console.log(`${ok ? 'ok  ' : 'FAIL'} ${name}`);
    unstable.push(...[...said.matchAll(/^UNSTABLE (.*)$/gm)].map(([, test]) => test));
    if (!ok) failures.push(name);
  }
}

async function oneByOne(checks) {
  for (const each of checks) await check(each);
}

async function check([name, ...command]) {
  const started = Date.now();
  const { ok, said } = await run(command);
  counts[ok ? 'passed' : 'failed']++;
  if (!ok) failures.push(`${name}: ${said.trim().slice(-500)}`);
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  console.log(`${ok ? '' : said}${ok ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)`);
  return ok;
}

function run([command, ...args]) {
  const programs = { node: process.execPath, npm: 'npm' };
  const program = programs[command] ?? join('node_modules', '.bin', command);
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ ok: false, said: `${error.message}\n` }));
    child.on('close', (status) => resolve({ ok: status === 0, said }));
  });
}

function finish() {
  const { passed, failed, skipped } = counts;
  if (skipped > 0)
    console.log(
      `\n${skipped} tests were skipped: they run in npm run test:long, or need what is not here (see CONTRIBUTING.md)`,
    );
  for (const test of unstable) console.log(`\nUNSTABLE ${test}`);
  for (const failure of failures) console.log(`\nFAILED ${failure}`);
  console.log(`\n${passed} passed, ${failed} failed`);
  process.exit(failed === 0 ? 0 : 1);
}
