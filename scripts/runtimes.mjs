// The smoke test on every runtime that is promised. The npm packages node, bun and deno carry the runtimes; they are
// large, so they are fetched into a temporary folder when this is asked for, and are no part of `npm test`.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const runtimes = [
  { name: 'node', version: '20', args: [] },
  { name: 'node', version: '22', args: [] },
  { name: 'node', version: '24', args: [] },
  { name: 'node', version: '26', args: [] },
  { name: 'bun', version: 'latest', args: [] },
  { name: 'deno', version: 'latest', args: ['run', '--allow-all'] },
];

let failed = 0;
for (const runtime of runtimes) {
  const folder = mkdtempSync(join(tmpdir(), 'idsmith-runtime-'));
  const program = `${runtime.name}@${runtime.version}`;
  // Bun and Deno put their program into place in an install script, which npm otherwise leaves out.
  run('npm', [
    'install',
    '--silent',
    '--no-save',
    '--allow-scripts=bun,deno,node',
    '--prefix',
    folder,
    program,
  ]);
  const bin = join(folder, 'node_modules', '.bin', runtime.name);
  const { status, stdout, stderr } = run(bin, [...runtime.args, 'test/smoke.mjs']);
  const ok = status === 0 && stdout.trim() === 'ok';
  if (!ok) failed++;
  console.log(
    `${ok ? 'ok  ' : 'FAIL'} ${runtime.name} ${run(bin, ['--version']).stdout.trim().split('\n')[0]}`,
  );
  if (!ok) console.log(`${stdout}${stderr}`);
  rmSync(folder, { recursive: true, force: true });
}
console.log(`\n${runtimes.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

function run(command, args) {
  return spawnSync(command, args, { encoding: 'utf8' });
}
