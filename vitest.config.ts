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

/** What needs more than a few seconds: it runs in `npm run test:full`. */
const SLOW = ['**/*.slow.test.ts'];

/** What is deep rather than wide: it runs in `npm run test:long`, every night and before a release. */
const LONG = ['**/*.long.test.ts'];

/** Quick and slow files that go further with a greater `TEST_DEPTH` (see test/depth.ts): `npm run test:long` runs them again. */
const DEEP = filesWith('(?<!\\.long)\\.test', /\/(depth|long)\.(ts|js)'/);

/** How a test listens to what its whole process reports, or looks at its memory. Other files of that process would disturb it. */
const LISTENS =
  /diagnostics_channel|idsmith:(store|lease|sequence)|process\.(on|once)\(|opentelemetry|node:v8/;

/** Quick files that get a process of their own. The others share processes: the library is loaded once a worker, which halves the work of a run. */
const ALONE = filesWith('(?<!\\.(slow|long))\\.test', LISTENS);

/** How a slow test starts servers of its own, several at once as a rule, or processes under load. */
const STARTS =
  /start(Redis|RedisCluster|RedisSentinels|Galera|Postgres|Mariadb|Etcd|Pgbouncer|Shards|Load)\(|STORE_SERVERS|[-/]cluster|@idsmith\/verify|src\/runs|run-verify/;

/** Slow files that fill the machine, or whose leases and time limits starve beside others: two at a time, after everything else. */
const HEAVY = filesWith('\\.slow\\.test', STARTS);

/** The test files whose name ends in `kind` and `.ts`, and whose text has `pattern`. */
function filesWith(kind: string, pattern: RegExp): string[] {
  const name = new RegExp(`${kind}\\.ts$`);
  return ['test', 'packages'].flatMap((folder) =>
    readdirSync(here(folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => name.test(file) && !file.includes('node_modules'))
      .map((file) => join(folder, file))
      .filter((file) => pattern.test(readFileSync(here(file), 'utf8'))),
  );
}

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
          exclude: [...APART, ...SLOW, ...LONG, ...ALONE],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'alone', include: ALONE, exclude: APART } },
      { extends: true, test: { name: 'slow', include: SLOW, exclude: [...APART, ...HEAVY] } },
      {
        extends: true,
        test: { name: 'heavy', include: HEAVY, maxWorkers: 2, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        test: {
          name: 'long',
          include: [...LONG, ...DEEP],
          exclude: APART,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
    ],
    globalSetup: [here('test/services/templates.ts'), here('test/services/shared-servers.ts')],
    setupFiles: [here('test/property-settings.ts')],
    // Far more than any of them needs: a busy machine must not fail a test.
    testTimeout: 90_000,
    hookTimeout: 90_000,
    expect: { poll: { timeout: 45_000, interval: 20 } },
    // Two more than the cores of a small machine: the suites of services wait for about half of their time.
    maxWorkers: 4,
    // Suites that wait beside each other in one file.
    maxConcurrency: 3,
  },
});
