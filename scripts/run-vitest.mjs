// Runs vitest, reads its report, and looks a second time at what failed: alone, one file after the other.
//
// Thousands of tests of real servers share two cores, so a test can fail because the machine was starved. A test that fails in the run and
// passes alone is named as unstable, in the last lines: it is a defect of the test or of the code, and somebody has to find out which.
// Some failures get no second look: ids that came twice, and laws, whose cases are the same in every run.

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const VITEST = join(ROOT, 'node_modules/vitest/vitest.mjs');

/** Failures in more files than this are not the machine's fault. One server that stands still makes all tests of its file fail. */
const MOST_SECOND_LOOKS = 5;

/**
 * @param {string[]} args arguments of `vitest run`, options as `--name=value`
 * @param {Record<string, string>} env variables beside those of this process
 * @returns the counts, `failures` (texts), and `unstable` (texts of failures that did not come again)
 */
export async function runVitest(args, env = {}) {
  const first = await run(args, env);
  if (process.env.SECOND_LOOK === 'off' || !first.failures.every(mayBeLuck)) return told(first, []);
  const files = [...new Set(first.failures.map(({ file }) => file))];
  if (files.length === 0 || files.length > MOST_SECOND_LOOKS) return told(first, []);
  console.log(`\na second look, alone: ${files.join(' ')}\n`);
  const options = args.filter((arg) => arg.startsWith('--'));
  const second = await run([...files, ...options, '--maxWorkers=1'], env);
  if (second.failures.length > 0 || second.passed === 0) return told(first, []);
  const passed = first.passed + first.failures.length;
  return told({ ...first, passed, failures: [] }, first.failures);
}

/** Words for ids that came twice. */
const REPEATS = /unique|repeat|duplicate|twice/i;

/** @param {{ file?: string, name: string, message: string }} failure */
export function mayBeLuck({ file, name, message }) {
  if (file === undefined || /Property failed after \d+ tests/.test(message)) return false;
  const said = message.split('\n    at ')[0];
  if (/^Error: (Test|Hook) timed out in/.test(said)) return true;
  if (REPEATS.test(said)) return false;
  // An assertion that fails in a test of uniqueness speaks of ids. A process that ended, or a server that was not there, does not.
  return !(REPEATS.test(name) && said.startsWith('AssertionError'));
}

function told({ passed, skipped, failures }, unstable) {
  const text = ({ file, name, message }) => `${file ?? 'vitest'} > ${name}: ${message.slice(0, 800)}`;
  return { passed, skipped, failures: failures.map(text), unstable: unstable.map(text) };
}

async function run(args, env) {
  const scratch = mkdtempSync(join(tmpdir(), 'idsmith-vitest-'));
  const report = join(scratch, 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  const child = spawn(process.execPath, [VITEST, 'run', ...args, ...reporters], {
    stdio: ['ignore', 'inherit', 'inherit'],
    cwd: ROOT,
    env: { ...process.env, ...env },
  });
  const status = await new Promise((resolve) => child.on('close', resolve));
  try {
    return readReport(JSON.parse(readFileSync(report, 'utf8')), status === 0);
  } catch (error) {
    const message = `the test run left no report: ${error.message}`;
    return { passed: 0, skipped: 0, failures: [{ name: 'report', message }] };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** @param {boolean} isWell whether vitest ended without an error */
function readReport({ numPassedTests, numPendingTests, testResults }, isWell) {
  const failures = testResults.flatMap(({ name: file, status, message, assertionResults }) => {
    const failed = assertionResults
      .filter((test) => test.status === 'failed')
      .map((test) => ({ file, name: test.fullName, message: test.failureMessages.join('\n') }));
    // A file that could not be loaded has no tests to count, and is a failure all the same.
    return status === 'failed' && failed.length === 0 ? [{ file, name: 'the file', message }] : failed;
  });
  if (!isWell && failures.length === 0)
    failures.push({
      name: 'every test passed',
      message: 'but an error was thrown outside of them: see above',
    });
  return { passed: numPassedTests, skipped: numPendingTests, failures };
}
