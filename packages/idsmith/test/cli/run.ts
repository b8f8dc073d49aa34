import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** The command as a user has it. */
export const bin = fileURLToPath(new URL('../../bin/idsmith.js', import.meta.url));

/** What a run of the command has besides its arguments. */
interface Surroundings {
  readonly input?: string | Uint8Array;
  readonly env?: Record<string, string>;
  readonly cwd?: string;
}

/** Runs it, and returns what a terminal would see. */
export function idsmith(...args: string[]) {
  return idsmithIn({}, ...args);
}

/** Runs it with these surroundings. */
export function idsmithIn({ env, ...surroundings }: Surroundings, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], {
    ...surroundings,
    ...(env && { env: { ...process.env, ...env } }),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  return { status, stdout, stderr, lines: stdout.split('\n').slice(0, -1) };
}

/** A run of the command that goes on, with its output so far. */
export class RunningCommand {
  readonly child: ChildProcessWithoutNullStreams;
  stdout = '';
  stderr = '';

  constructor(...args: string[]) {
    this.child = spawn(process.execPath, [bin, ...args]);
    onTestFinished(() => void this.child.kill('SIGKILL'));
    this.child.stdout.on('data', (chunk) => {
      this.stdout += chunk;
    });
    this.child.stderr.on('data', (chunk) => {
      this.stderr += chunk;
    });
  }

  /** Resolves when standard output or standard error has the text. */
  async says(stream: 'stdout' | 'stderr', text: string): Promise<void> {
    const ended = once(this.child, 'close').then(() => {
      throw new Error(`the command ended without ${text}: ${this.stderr}`);
    });
    ended.catch(() => {});
    while (!this[stream].includes(text)) await Promise.race([once(this.child[stream], 'data'), ended]);
  }

  /** Sends a signal, and gives the exit code. */
  async stop(signal: NodeJS.Signals): Promise<number | null> {
    const closed = once(this.child, 'close');
    this.child.kill(signal);
    const [code] = await closed;
    return code;
  }
}
