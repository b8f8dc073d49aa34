// The smoke test on every runtime that is promised, with the packed tarballs as users install them. npm carries them as packages for each platform; they are
// large, so they are fetched into a temporary folder when this is asked for, and are no part of `npm test`.

import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { arch, platform } from 'node:process';

const bunArch = arch === 'arm64' ? 'aarch64' : arch;
const denoLibc = platform === 'linux' ? '-glibc' : '';
const node = (version) => ({
  name: `node ${version}`,
  package: `node-${platform}-${arch}`,
  version,
  program: 'bin/node',
  args: [],
});
const runtimes = [
  ...['20', '22', '24', '26'].map(node),
  {
    name: 'bun',
    package: `@oven/bun-${platform}-${bunArch}`,
    version: 'latest',
    program: 'bin/bun',
    args: [],
  },
  {
    name: 'deno',
    package: `@deno/${platform}-${arch}${denoLibc}`,
    version: 'latest',
    program: 'deno',
    args: ['run', '--allow-all'],
  },
];

const home = packedHome();
let failed = 0;
for (const runtime of runtimes) {
  const folder = mkdtempSync(join(tmpdir(), 'idsmith-runtime-'));
  run('npm', [
    'install',
    '--silent',
    '--no-save',
    '--prefix',
    folder,
    `${runtime.package}@${runtime.version}`,
  ]);
  const program = join(folder, 'node_modules', runtime.package, runtime.program);
  const { status, stdout, stderr } = run(program, [...runtime.args, join(home, 'test/smoke.mjs')]);
  const ok = status === 0 && stdout.trim() === 'ok';
  if (!ok) failed++;
  console.log(
    `${ok ? 'ok  ' : 'FAIL'} ${runtime.name} (${run(program, ['--version']).stdout?.split('\n')[0]})`,
  );
  if (!ok) console.log(`${stdout}${stderr}`);
  rmSync(folder, { recursive: true, force: true });
}
rmSync(home, { recursive: true, force: true });
console.log(`\n${runtimes.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

/** A folder with the smoke test, and nothing of the workspace but the packed library. */
function packedHome() {
  const folder = mkdtempSync(join(tmpdir(), 'idsmith-runtimes-'));
  run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder, '-w', 'idsmith']);
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  // Deno takes packages that package.json names. Short public ids need the ciphers.
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
  run('npm', ['install', '--silent', '--prefix', folder, join(folder, tarball), '@noble/ciphers@2']);
  for (const path of ['test/smoke.mjs', 'test/web-worker.mjs', 'packages/idsmith/test/locality/scripts'])
    cpSync(path, join(folder, path), { recursive: true });
  return folder;
}

function run(command, args) {
  return spawnSync(command, args, { encoding: 'utf8' });
}
