// node scripts/touched-folders.mjs BASE: prints `folders=[…]`, the folders with lock files of their own whose tests a change since the
// commit BASE can break, as an output of a GitHub step. All of them if BASE is not known, as in the first push of a branch.

import { spawnSync } from 'node:child_process';

/** The paths that the tests of a folder depend on. */
const PATHS = {
  orms: ['test/orms/', 'packages/idsmith/src/'],
  frameworks: [
    'test/frameworks/',
    'packages/idsmith/src/',
    'packages/nest/',
    'packages/server/',
    'examples/',
    'Dockerfile',
  ],
  toolchains: ['test/toolchains/', 'packages/idsmith/', 'docs/recipes.md'],
  workers: ['test/workers/', 'packages/idsmith/src/', 'packages/shard/src/', 'packages/verify/src/'],
};

/** What every folder depends on. */
const COMMON = ['test/services/', 'scripts/', 'package-lock.json'];

const [base = ''] = process.argv.slice(2);
const { status, stdout } = spawnSync('git', ['diff', '--name-only', base, 'HEAD'], { encoding: 'utf8' });
const isKnown = base !== '' && status === 0;
const changed = stdout.split('\n');
const isTouched = (paths) => changed.some((file) => paths.some((path) => file.startsWith(path)));
const folders = Object.keys(PATHS).filter((name) => !isKnown || isTouched([...PATHS[name], ...COMMON]));
console.log(`folders=${JSON.stringify(folders)}`);
