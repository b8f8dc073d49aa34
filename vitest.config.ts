import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// Folders with a lock file of their own: see scripts/own-lock-tests.mjs.
const APART = [
  '**/node_modules/**',
  'test/frameworks/**',
  'test/toolchains/**',
  'test/workers/**',
  'test/postgres18/**',
  'test/dynamodb/**',
];

/** What needs minutes: it runs in `npm run test:full`. */
const SLOW = ['**/*.slow.test.ts'];

/** What could go on for ever (see test/depth.ts): it runs in `npm test`, and once more and deeper in `npm run test:full`. */
const DEEP = [
  '**/lease/model.test.ts',
  '**/threads.test.ts',
  '**/locality/{lease-history,shared-counter,timeline,uniqueness}.test.ts',
];

/** How a test listens to what its whole process tells, or looks at its memory. It would meet other files of that process, too. */
const LISTENS =
  /diagnostics_channel|idsmith:(store|lease|sequence)|process\.(on|once)\(|opentelemetry|node:v8/;

/** Quick files that get a process of their own. The others share processes: the library is loaded once a worker, which halves the work of a run. */
const ALONE = ['test', 'packages'].flatMap((folder) =>
  readdirSync(here(folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /(?<!\.slow)\.test\.ts$/.test(name) && !name.includes('node_modules'))
    .map((name) => join(folder, name))
    .filter((file) => LISTENS.test(readFileSync(here(file), 'utf8'))),
);

// Tests load the sources, by the condition `idsmith-source` of the packages. What is built is tested as users get it: in worker
// threads, processes, a browser, and from the packed tarball.
export default defineConfig({
  resolve: {
    alias: [
      { find: /^#services$/, replacement: here('test/services/index.ts') },
      { find: /^#services\/(.*)$/, replacement: `${here('test/services')}/$1` },
    ],
  },
  ssr: { resolve: { conditions: ['idsmith-source', 'node', 'development|production'] } },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
          exclude: [...APART, ...SLOW, ...ALONE],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE, exclude: APART } },
      {
        extends: true,
        test: {
          name: 'slow',
          include: process.env.TEST_DEPTH === undefined ? SLOW : [...SLOW, ...DEEP],
          exclude: APART,
        },
      },
    ],
    globalSetup: [here('test/services/templates.ts'), here('test/services/shared-servers.ts')],
    setupFiles: [here('test/property-settings.ts')],
    // Far more than any of them needs on an idle machine: a starved one must not fail a test.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // What comes at last may take its time where other suites run beside it.
    expect: { poll: { timeout: 90_000, interval: 20 } },
    // Two more than the cores of a small machine: the suites of services wait for about half of their time.
    maxWorkers: 4,
    // Suites that wait beside each other in one file.
    maxConcurrency: 3,
  },
});
