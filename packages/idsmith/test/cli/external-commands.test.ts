import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

describe('The command line without the other packages', () => {
  const home = mkdtempSync(join(tmpdir(), 'idsmith-alone-'));
  const installed = join(home, 'node_modules', 'idsmith');
  afterAll(() => rmSync(home, { recursive: true, force: true }));

  beforeAll(() => {
    mkdirSync(installed, { recursive: true });
    const source = fileURLToPath(new URL('../../', import.meta.url));
    for (const part of ['package.json', 'bin', 'dist'])
      cpSync(join(source, part), join(installed, part), { recursive: true });
  });

  const idsmith = (...args: string[]) =>
    spawnSync(process.execPath, [join(installed, 'bin', 'idsmith.js'), ...args], {
      cwd: home,
      encoding: 'utf8',
    });

  it.each([
    ['key', '@idsmith/shard'],
    ['reshard', '@idsmith/shard'],
    ['verify', '@idsmith/verify'],
    ['serve', '@idsmith/server'],
    ['token', '@idsmith/server'],
  ])('names the package to install for %s: %s', (command, name) => {
    const { status, stdout, stderr } = idsmith(command);
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: '',
      stderr: `idsmith: the package ${name} is needed and not installed: npm install ${name}\n`,
    });
  });

  it('lists their commands in its help all the same', () => {
    const { status, stdout } = idsmith('--help');
    expect(status).toBe(0);
    expect(stdout).toMatch(/^ {2}key +Mint sharded keys, one a line$/m);
    expect(stdout).toMatch(/^ {2}serve +Serve ids over HTTP$/m);
    expect(stdout).toMatch(/^ {2}token +Create, list and revoke tokens of the server$/m);
  });
});
