// Everything that `npm test` stands for, in order, with one line a step and the counts at the end.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const scratch = mkdtempSync(join(tmpdir(), 'idsmith-check-'));
const report = join(scratch, 'vitest.json');

/** Checks of the code as it stands: each counts as one. */
const checks = [
  ['build', 'tsc', '--build'],
  ['types of the console', 'tsc', '-p', 'packages/console'],
  ['build of the console', 'vite', 'build', 'packages/console', '--logLevel', 'warn'],
  ['Lua scripts as generated', 'node', 'scripts/build-lua.mjs', '--check'],
  ['format and lint', 'biome', 'check', '--error-on-warnings', '.'],
  ['types of tests and benchmarks', 'tsc', '-p', 'tsconfig.test.json'],
  ['unused code and dependencies', 'knip'],
  ['package layout', 'publint', '--strict', 'packages/idsmith'],
  ['package layout of the server', 'publint', '--strict', 'packages/server'],
  ['types as packed', 'attw', '--pack', 'packages/idsmith', '--profile', 'esm-only'],
  ['size budgets', 'size-limit'],
];

const counts = { passed: 0, failed: 0, skipped: 0 };

for (const [name, ...command] of checks) {
  const started = Date.now();
  const ok = run(command, 'pipe');
  counts[ok ? 'passed' : 'failed']++;
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${name} (${((Date.now() - started) / 1000).toFixed(1)} s)`);
  // Nothing below means anything when the code does not build.
  if (!ok && name.startsWith('build')) finish();
}

const ran = run(
  ['vitest', 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`],
  'inherit',
);
countTests(ran);
finish();

function run([command, ...args], output) {
  const program = command === 'node' ? process.execPath : join('node_modules', '.bin', command);
  const { status, stdout, stderr } = spawnSync(program, args, {
    stdio: ['ignore', output, output],
    encoding: 'utf8',
  });
  if (status !== 0 && output === 'pipe') console.log(`${stdout}${stderr}`);
  return status === 0;
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
