// Servers as processes of their own, each in a folder of its own.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const bin = fileURLToPath(new URL('../../packages/idsmith/bin/idsmith.js', import.meta.url));
const bare = fileURLToPath(new URL('bare.mjs', import.meta.url));

/** The processor time of a process so far; `NaN` where the system does not tell it. The unit of Linux is a hundredth of a second. */
function cpuSecondsOf(pid) {
  if (!existsSync(`/proc/${pid}/stat`)) return Number.NaN;
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function start(args) {
  const folder = mkdtempSync(join(tmpdir(), 'idsmith-bench-'));
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(child.stdout, 'data');
  return {
    url: String(line).trim().split(' ').at(-1),
    cpuSeconds: () => cpuSecondsOf(child.pid),
    async stop() {
      child.kill('SIGTERM');
      await once(child, 'exit');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** `idsmith serve` on an embedded SQLite store, as it comes. */
export const startIdsmith = (...flags) => start([bin, 'serve', '--port', '0', '--log', 'error', ...flags]);

export const startBare = () => start([bare]);
