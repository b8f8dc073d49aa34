// The smoke test on every other runtime that is promised. npm carries them as packages for each platform; they are
// large, so they are fetched into a temporary folder when this is asked for, and are no part of `npm test`.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { arch, platform } from 'node:process';

const bunArch = arch === 'arm64' ? 'aarch64' : arch;
const denoLibc = platform === 'linux' ? '-glibc' : '';
const node = (version) => ({
  name: `node ${version}`,
  package: `node-${platform}-${arch}`,
  ...{ version, program: 'bin/node', args: [] },
});
const runtimes = [
  ...['22', '24', '26'].map(node),
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
    ...{ version: 'latest', program: 'deno', args: ['run', '--allow-all'] },
  },
];

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
  const { status, stdout, stderr } = run(program, [...runtime.args, 'test/smoke.mjs']);
  const ok = status === 0 && stdout.trim() === 'ok';
  if (!ok) failed++;
  console.log(
    `${ok ? 'ok  ' : 'FAIL'} ${runtime.name} (${run(program, ['--version']).stdout?.split('\n')[0]})`,
  );
  if (!ok) console.log(`${stdout}${stderr}`);
  rmSync(folder, { recursive: true, force: true });
}
console.log(`\n${runtimes.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

function run(command, args) {
  return spawnSync(command, args, { encoding: 'utf8' });
}
