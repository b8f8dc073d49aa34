// Measures which statements of the core the tests reach, and lists the lines of the others.
//
//   npm run lab -- coverage              every room, one after the other
//   npm run lab -- coverage lease flake  these rooms
//   npm run lab -- coverage lease --slow with the tests that take long
//   npm run lab -- coverage --report     measures nothing and prints the table of what is measured
//
// What a room's tests reach is kept in coverage/rooms, and the table adds up all that is kept there. A source that was
// changed since counts as not reached, until the rooms are measured again.
// Tests that start worker threads and processes run the built files, whose lines do not count here.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startVitest } from 'vitest/node';
import { digestsOfSources, keep, printReport } from './coverage-report/report.mjs';
import { OTHER_FILES, ROOMS, ROOT, testsOf } from './coverage-report/rooms.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { slow: { type: 'boolean', default: false }, report: { type: 'boolean', default: false } },
});
const unknown = positionals.find((room) => !ROOMS.includes(room));
if (unknown !== undefined) {
  console.error(`usage: coverage [--slow] [--report] [${ROOMS.join(' | ')}]…`);
  process.exit(2);
}

/** Long: counting takes time, and a test that a busy machine ends reaches less. */
const TEST_TIMEOUT_MS = 300_000;
const rooms = positionals.length > 0 ? positionals : ROOMS;
let isGreen = true;
if (!values.report) for (const room of rooms) if (!(await measure(room))) isGreen = false;
printReport(rooms);
process.exitCode = isGreen ? 0 : 1;

/** Runs the tests of a room. @returns false if a test failed */
async function measure(room) {
  const tests = testsOf(room, values.slow);
  if (tests.length === 0) return true;
  const folder = mkdtempSync(join(tmpdir(), 'idsmith-coverage-'));
  try {
    console.log(`\n${room}: ${tests.length} test files`);
    const digests = digestsOfSources();
    const hasPassed = await run(tests, folder);
    keep(room, join(folder, 'coverage-final.json'), digests);
    return hasPassed;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function run(tests, folder) {
  const vitest = await startVitest('test', tests, {
    root: ROOT,
    watch: false,
    reporters: ['dot'],
    testTimeout: TEST_TIMEOUT_MS,
    coverage: {
      enabled: true,
      provider: 'v8',
      reporter: ['json'],
      reportsDirectory: folder,
      reportOnFailure: true,
      exclude: OTHER_FILES,
    },
  });
  const hasPassed = vitest.state.getCountOfFailedTests() === 0;
  await vitest.close();
  return hasPassed;
}
