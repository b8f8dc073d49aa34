// npm run lab -- NAME [OPTION …]: builds, and starts a long run. scripts/README.md describes them.

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const RUNS = ['chaos', 'soak', 'reshard', 'simulate', 'patroni', 'mutate', 'coverage'];

const [name, ...options] = process.argv.slice(2);
if (!RUNS.includes(name)) {
  console.error(`name a run: npm run lab -- ${RUNS.join('|')}`);
  process.exit(2);
}
const run = (program, args) => spawnSync(program, args, { stdio: 'inherit' }).status ?? 1;
const built = run('npm', ['run', '--silent', 'build']);
process.exitCode =
  built || run(process.execPath, [fileURLToPath(new URL(`${name}.mjs`, import.meta.url)), ...options]);
