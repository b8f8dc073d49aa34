import { defineConfig } from 'vitest/config';

// No aliases: these tests use the packages as they are packed.
export default defineConfig({
  test: { include: ['*.test.ts'], testTimeout: 180_000, hookTimeout: 180_000, maxWorkers: 2 },
});
