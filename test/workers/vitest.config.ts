import { defineConfig } from 'vitest/config';

// No aliases: these tests use the packages as they are packed.
export default defineConfig({
  test: {
    include: ['*.test.ts'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // What comes at last may take its time where other suites run beside it.
    expect: { poll: { timeout: 90_000, interval: 20 } },
    maxWorkers: 2,
  },
});
