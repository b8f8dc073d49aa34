// Everything that `npm test` stands for, with one line a step and the counts at the end.

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const scratch = mkdtempSync(join(tmpdir(), 'idsmith-check-'));
const report = join(scratch, 'vitest.json');

/** What everything else needs, in order. Each check counts as one. */
const builds = [
  ['build', 'tsc', '--build'],
  ['build of the console', 'vite', 'build', 'packages/console', '--logLevel', 'warn'],
];

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
    ['package layout of the server', 'publint', '--strict', 'packages/server'],
    ['package layout of the Fastify plugin', 'publint', '--strict', 'packages/fastify'],
    ['package layout of the Nest module', 'publint', '--strict', 'packages/nest'],
    ['types as packed', 'attw', '--pack', 'packages/idsmith', '--profile', 'esm-only'],
    ['size budgets', 'size-limit'],
  ],
];

const counts = { passed: 0, failed: 0, skipped: 0 };

// Nothing below means anything when the code does not build.
for (const build of builds) if (!(await check(build))) finish();
await Promise.all(lanes.map(oneByOne));

const ran = await run(
  ['vitest', 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
  'inherit',
);
countTests(ran.ok);
finish();

async function oneByOne(checks) {
  for (const each of checks) await check(each);
}

async function check([name, ...command]) {
  const started = Date.now();
  const { ok, said } = await run(command, 'pipe');
  counts[ok ? 'passed' : 'failed']++;
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  console.log(`${ok ? '' : said}${ok ? 'ok  ' : 'FAIL'} ${name} (${seconds} s)`);
  return ok;
}

function run([command, ...args], output) {
  const program = command === 'node' ? process.execPath : join('node_modules', '.bin', command);
  const child = spawn(program, args, { stdio: ['ignore', output, output] });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ ok: false, said: `${error.message}\n` }));
    child.on('close', (status) => resolve({ ok: status === 0, said }));
  });
}

function countTests(ran) {
  try {
    const { numPassedTests, numFailedTests, numPendingTests, testResults } = JSON.parse(
      readFileSync(report, 'utf8'),
    );
    counts.passed += numPassedTests;
    counts.failed += numFailedTests;
    counts.skipped += numPendingTests;
    // A file that could not be loaded has no tests to count, and is a failure all the same.
    const broken = testResults.filter(
      ({ status, assertionResults }) =>
        status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
    ).length;
    counts.failed += broken;
    if (!ran && counts.failed === 0) counts.failed = 1;
  } catch (error) {
    console.log(`the test run left no report: ${error.message}`);
    counts.failed++;
  }
}

function finish() {
  rmSync(scratch, { recursive: true, force: true });
  const { passed, failed, skipped } = counts;
  if (skipped > 0)
    console.log(`\n${skipped} tests were skipped: they need what is not here (see CONTRIBUTING.md)`);
  console.log(`\n${passed} passed, ${failed} failed`);
  process.exit(failed === 0 ? 0 : 1);
}
