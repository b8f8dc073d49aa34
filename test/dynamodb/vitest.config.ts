import { defineConfig } from 'vitest/config';
import project from '../../vitest.config.ts';

export default defineConfig({
  ...project,
  test: { ...project.test, include: ['*.test.ts'], exclude: ['node_modules/**'], testTimeout: 180_000 },
});
