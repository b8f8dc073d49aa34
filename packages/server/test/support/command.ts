import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '#services/guard.ts';
import { idsmithIn } from '../../../idsmith/test/cli/in-process.ts';
import { bin } from '../../../idsmith/test/cli/run.ts';

/** The folder of all runs of a process of tests, which takes it with it. */
export const folder = makeFolder('command');

interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The command `idsmith` as a process, in a folder of its own, with its output so far. */
export class Run {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Outcome>;
  stdout = '';
  stderr = '';

  constructor(
    args: readonly string[],
    env: Record<string, string> = {},
    cwd = mkdtempSync(join(folder, 'run-')),
  ) {
    this.child = spawn(process.execPath, [bin, ...args], { cwd, env: { PATH: process.env.PATH, ...env } });
    this.child.stdout.on('data', (chunk) => {
      this.stdout += chunk;
    });
    this.child.stderr.on('data', (chunk) => {
      this.stderr += chunk;
    });
    this.ended = once(this.child, 'close').then(([code]) => ({
      code,
      stdout: this.stdout,
      stderr: this.stderr,
    }));
  }

  /** The address that the command prints, as soon as it prints one. */
  async url(): Promise<string> {
    while (!this.stdout.includes('\n')) await Promise.race([once(this.child.stdout, 'data'), this.ended]);
    return this.stdout.trim().split(' ').at(-1) as string;
  }
}

/** Runs the command to its end, in this process. */
export async function idsmith(args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
  // Variables of the test run would be warned of. An empty one is as good as none.
  const ofTests = Object.keys(process.env).filter((name) => name.startsWith('IDSMITH_'));
  const none = Object.fromEntries(ofTests.map((name) => [name, '']));
  const { status, stdout, stderr } = await idsmithIn({ env: { ...none, ...env } }, ...args);
  return { code: status, stdout, stderr };
}
