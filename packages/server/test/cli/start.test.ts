import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { folder } from '../support/command.ts';

const script = fileURLToPath(new URL('../../../../scripts/start.mjs', import.meta.url));

/** The output of `npm start` up to the line with its address. */
async function started(...args: string[]): Promise<{ home: string; stdout: string; stderr: string }> {
  const home = mkdtempSync(join(folder, 'start-'));
  const child = spawn(process.execPath, [script, '--port', '0', ...args], {
    cwd: home,
    env: { PATH: process.env.PATH },
  });
  const seen = { home, stdout: '', stderr: '' };
  child.stderr.on('data', (chunk) => {
    seen.stderr += chunk;
  });
  child.stdout.on('data', (chunk) => {
    seen.stdout += chunk;
    child.kill('SIGTERM');
  });
  const [code] = await once(child, 'close');
  expect(code).toBe(0);
  return seen;
}

describe('npm start', () => {
  it('prints where it serves and where its database is', async () => {
    const { home, stdout, stderr } = await started();
    expect(stdout).toMatch(/^idsmith serves at http:\/\/127\.0\.0\.1:\d+\n$/);
    expect(stderr.split('\n')[0]).toBe(
      `idsmith: the database is ${join(home, 'ids.db')}; --store URL takes another`,
    );
  });

  it('names the file of --store, and none where the store is not a file', async () => {
    const { home, stderr } = await started('--store', 'sqlite:./other.db');
    expect(stderr).toContain(`the database is ${join(home, 'other.db')};`);
    expect((await started('--store', 'memory:')).stderr).not.toContain('the database is');
  });
});
