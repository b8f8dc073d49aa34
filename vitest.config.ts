import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { SlowestFirst } from './test/slowest-first.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const source = (path: string) => here(`packages/idsmith/src/${path}`);

export default defineConfig({
  resolve: {
    // Tests load the sources. What is built is tested as users get it: in worker threads, processes, a
    // browser, and from the packed tarball.
    alias: [
      { find: /^idsmith$/, replacement: source('index.ts') },
      { find: /^idsmith\/cli$/, replacement: source('cli/index.ts') },
      { find: /^idsmith\/connect$/, replacement: source('connect/index.ts') },
      { find: /^idsmith\/inspect$/, replacement: source('inspect/index.ts') },
      { find: /^idsmith\/public$/, replacement: source('public/index.ts') },
      { find: /^idsmith\/schema$/, replacement: source('schema/index.ts') },
      { find: /^idsmith\/shard$/, replacement: source('shard/index.ts') },
      { find: /^idsmith\/shard\/ring$/, replacement: source('shard/ring/index.ts') },
      { find: /^idsmith\/shardjs$/, replacement: source('shardjs/index.ts') },
      { find: /^idsmith\/sql$/, replacement: source('sql/index.ts') },
      { find: /^idsmith\/testing$/, replacement: source('testing/index.ts') },
      { find: /^#cipher$/, replacement: source('runtime/cipher-node.ts') },
      { find: /^#runtime$/, replacement: source('runtime/node.ts') },
      { find: /^#services$/, replacement: here('test/services/index.ts') },
      { find: /^#services\/(.*)$/, replacement: `${here('test/services')}/$1` },
    ],
  },
  test: {
    include: ['test/**/*.test.ts', 'packages/*/test/**/*.test.ts'],
    // Folders with a lock file of their own: see scripts/own-lock-tests.mjs.
    exclude: ['**/node_modules/**', 'test/frameworks/**', 'test/dynamodb/**'],
    globalSetup: [here('test/services/templates.ts')],
    setupFiles: [here('test/random-sizes.ts')],
    sequence: { sequencer: SlowestFirst },
    // Far more than any of them needs on an idle machine: a starved one must not fail a test.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // What comes at last may take its time where other suites run beside it.
    expect: { poll: { timeout: 40_000, interval: 20 } },
    // Two more than the cores of a small machine: the suites of services wait for about half of their time.
    maxWorkers: 4,
    // Suites that wait beside each other in one file.
    maxConcurrency: 3,
  },
});
