import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The command as a user has it. */
export const bin = fileURLToPath(new URL('../../bin/idsmith.js', import.meta.url));

/** Runs it, and returns what a terminal would see. */
export function idsmith(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr, lines: stdout.split('\n').slice(0, -1) };
}
