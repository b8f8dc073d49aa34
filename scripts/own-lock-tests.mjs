// Tests in a folder with a lock file of its own, because they bring hundreds of packages that `npm test` does not need:
// node scripts/own-lock-tests.mjs FOLDER [PACKAGE …] [-- ARGUMENT OF VITEST …]
// Installs what the folder names, puts the packed packages of the project beside it as a user would have them, generates
// code and checks types where the folder has a script `generate` and a tsconfig.json, runs the tests, and prints the
// counts at the end. `node scripts/own-lock-tests.mjs test/orms -- drizzle` runs the files of that name.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runVitest } from './run-vitest.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const args = process.argv.slice(2);
const end = args.includes('--') ? args.indexOf('--') : args.length;
const [folder, ...packages] = args.slice(0, end);
const forVitest = args.slice(end + 1);
if (folder === undefined) throw new Error('name a folder, such as test/frameworks');
const home = join(root, folder);
const scratch = mkdtempSync(join(tmpdir(), 'idsmith-own-lock-'));
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }));

install();
for (const name of packages) unpack(name);
if (!run('generate', ['npm', 'run', '--silent', '--if-present', 'generate'], home)) finish(false, undefined);
finish(checkTypes(), await runVitest([`--root=${home}`, ...forVitest]));

/** Installs the packages of the lock file, unless they are installed. */
function install() {
  const lock = createHash('sha256')
    .update(readFileSync(join(home, 'package-lock.json')))
    .digest('hex');
  const mark = join(home, 'node_modules', '.installed-lock');
  if (existsSync(mark) && readFileSync(mark, 'utf8') === lock) return;
  if (!run('npm ci', ['npm', 'ci', '--no-audit', '--no-fund'], home)) finish(false, undefined);
  writeFileSync(mark, lock);
}

/** Puts a package of the project into the folder as its tarball has it. */
function unpack(name) {
  const source = join(root, 'packages', name.replace('@idsmith/', ''));
  const target = join(home, 'node_modules', name);
  const isPacked = run(
    'npm pack',
    ['npm', 'pack', '--silent', '--ignore-scripts', '--pack-destination', scratch],
    source,
  );
  const tarball = readdirSync(scratch).find((file) => file.endsWith('.tgz'));
  if (!isPacked || tarball === undefined) finish(false, undefined);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  run('tar', ['tar', '-xzf', join(scratch, tarball), '-C', target, '--strip-components=1'], root);
  rmSync(join(scratch, tarball));
}

/** Checks the types of the tests. Tells whether they are right; `undefined` if the tests have none. */
function checkTypes() {
  if (!existsSync(join(home, 'tsconfig.json'))) return undefined;
  return run('types', [process.execPath, bin('typescript/bin/tsc'), '-p', home], root);
}

function run(name, [command, ...args], cwd) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  if (status !== 0) console.log(`FAIL ${name}\n${stdout}${stderr}`);
  return status === 0;
}

function bin(path) {
  return join(root, 'node_modules', path);
}

/**
 * Prints the counts and ends.
 *
 * @param isReady whether the step before the tests went well; `undefined` if there was none
 * @param tests what the tests gave; `undefined` if they were not run
 */
function finish(isReady, tests) {
  const passed = (tests?.passed ?? 0) + (isReady === true ? 1 : 0);
  const failed = (tests?.failures.length ?? 1) + (isReady === false ? 1 : 0);
  for (const test of tests?.unstable ?? []) console.log(`\nUNSTABLE ${test}`);
  console.log(`\n${passed} passed, ${failed} failed`);
  process.exit(failed === 0 ? 0 : 1);
}
