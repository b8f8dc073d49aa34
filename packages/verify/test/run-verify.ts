import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { bin, idsmith } from '../../idsmith/test/cli/run.ts';
import type { Report } from '../src/report/report.ts';

/** A run of the command that has ended. */
export interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `idsmith verify`, while the test goes on. */
export function verify(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, ...env }, maxBuffer: 2 ** 26 };
    execFile(process.execPath, [bin, 'verify', ...args], options, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

/** Runs `idsmith verify --json`, and gives its report. */
export async function reportOf(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ status: number; report: Report }> {
  const { status, stdout, stderr } = await verify([...args, '--json'], env);
  if (!stdout.startsWith('{')) throw new Error(`no report: ${stdout}${stderr}`);
  return { status, report: JSON.parse(stdout) };
}

/**
 * The URL of a SQLite file that exists, with a sequence of somebody else in it.
 *
 * @param atEnd the hook of the test, which a test beside others has to name
 */
export function sqliteUrl(atEnd: (remove: () => void) => void = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'idsmith-verify-test-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  const url = `sqlite:${join(folder, 'ids.db')}`;
  idsmith('seq', 'define', 'orders', '--store', url);
  return url;
}
