// `npm run build`: declarations, the published bundles, and the page of the console; see scripts/README.md. Does nothing when the last
// build was made of the same sources, so that `npm ci`, `npm start` and the tests can all ask for it.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const STAMP = join(ROOT, 'node_modules/.cache/idsmith-build');

/** In order. Each is the path of a program in node_modules or scripts, and its arguments. */
const STEPS = [
  ['node_modules/typescript/bin/tsc', '--build'],
  ['scripts/bundle.mjs'],
  ['node_modules/vite/bin/vite.js', 'build', 'packages/console', '--logLevel', 'warn'],
];

/** What a build is made of, besides the sources of the packages. */
const INPUTS = [
  'package-lock.json',
  'tsconfig.base.json',
  'tsconfig.json',
  'scripts/build.mjs',
  'scripts/bundle.mjs',
];

/** Folders of a package that are no inputs. */
const NO_INPUT = new Set(['build', 'dist', 'node_modules', 'test']);

const wanted = digest();
if (!isUpToDate()) {
  rmSync(STAMP, { force: true });
  for (const step of STEPS) {
    const { status } = spawnSync(process.execPath, step, { cwd: ROOT, stdio: 'inherit' });
    if (status !== 0) process.exit(1);
  }
  mkdirSync(dirname(STAMP), { recursive: true });
  writeFileSync(STAMP, wanted);
}

function isUpToDate() {
  const isBuilt = packages().every((name) => existsSync(join(ROOT, 'packages', name, 'dist')));
  return isBuilt && existsSync(STAMP) && readFileSync(STAMP, 'utf8') === wanted;
}

function packages() {
  return readdirSync(join(ROOT, 'packages'));
}

/** A digest of the names and texts of all inputs. */
function digest() {
  const hash = createHash('sha256').update(process.version);
  for (const input of INPUTS) add(hash, input);
  for (const name of packages())
    for (const entry of readdirSync(join(ROOT, 'packages', name)).sort())
      if (!NO_INPUT.has(entry)) add(hash, join('packages', name, entry));
  return hash.digest('hex');
}

function add(hash, path) {
  const entries = readEntries(join(ROOT, path));
  if (entries === undefined) hash.update(`${path}\n`).update(readFileSync(join(ROOT, path)));
  else for (const entry of entries.sort()) add(hash, join(path, entry));
}

/** The names in a folder; `undefined` for a file. */
function readEntries(path) {
  try {
    return readdirSync(path);
  } catch (error) {
    if (error.code === 'ENOTDIR') return undefined;
    throw error;
  }
}
