import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { layouts } from 'idsmith';
import { afterAll, describe, expect, it } from 'vitest';
import { idsmith, idsmithIn } from './in-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'idsmith-cli-store-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const url = `sqlite:${join(folder, 'ids.db')}`;
const other = `sqlite:${join(folder, 'other.db')}`;

const withVariable = (value: string, ...args: string[]) =>
  idsmithIn({ env: { IDSMITH_STORE: value } }, ...args);

describe('A store in memory', () => {
  it.each([
    ['flake'],
    ['uuid7'],
    ['seq', 'define', 'orders'],
    ['seq', 'list'],
    ['leases', '--namespace', 'x'],
  ])('is refused by %s, because every run would begin with the same ids', async (...args) => {
    for (const memory of ['memory:', 'MEMORY:', 'sqlite::memory:', 'sqlite://:memory:']) {
      const { status, stdout, stderr } = await idsmith(...args, '--store', memory);
      expect([status, stdout]).toEqual([2, '']);
      expect(stderr).toContain('--store: a store in memory belongs to one process');
    }
    expect((await withVariable('memory:', ...args)).stderr).toContain('IDSMITH_STORE: a store in memory');
  });
});

describe('The variable IDSMITH_STORE', () => {
  it('stands in for --store in every command', async () => {
    expect((await withVariable(url, 'seq', 'define', 'orders', '--start', '7')).status).toBe(0);
    expect((await withVariable(url, 'seq', 'next', 'orders')).lines).toEqual(['7']);
    expect((await withVariable(url, 'seq', 'show', 'orders')).status).toBe(0);
    expect((await withVariable(url, 'seq', 'alter', 'orders', '--block-size', '5')).status).toBe(0);
    expect((await withVariable(url, 'flake')).lines).toHaveLength(1);
    expect((await withVariable(url, 'leases', '--namespace', 'jflake')).lines[1]).toMatch(/^0 +free/);
    expect((await withVariable(url, 'seq', 'list')).lines[1]).toMatch(/^orders +8 /);
    expect((await withVariable(url, 'seq', 'remove', 'orders', '--yes')).status).toBe(0);
  });

  it('gives way to --store and to --node', async () => {
    await idsmith('seq', 'define', 'here', '--store', other);
    expect((await withVariable(url, 'seq', 'list', '--store', other)).lines[1]).toMatch(/^here /);
    const { status, lines } = await withVariable('nonsense:', 'flake', '--node', '9');
    expect(status).toBe(0);
    expect(layouts.jflake.decode(lines[0] as string).node).toBe(9);
  });

  it('is named when it is wrong, counts as missing when it is empty, and --help names it', async () => {
    const wrong = await withVariable('nonsense:', 'seq', 'list');
    expect(wrong).toMatchObject({ status: 2, stdout: '' });
    expect(wrong.stderr).toMatch(/^idsmith: IDSMITH_STORE: url must start with one of/);
    expect((await idsmith('seq', 'list', '--store', 'nonsense:')).stderr).toMatch(
      /^idsmith: --store: url must/,
    );
    for (const args of [['seq', 'list'], ['flake'], ['leases', '--namespace', 'x']]) {
      const missing = await withVariable('', ...args);
      expect(missing).toMatchObject({ status: 2, stdout: '' });
      expect(missing.stderr).toContain('IDSMITH_STORE');
    }
    expect((await idsmith('seq', 'next', '--help')).stdout).toContain('IDSMITH_STORE');
  });
});
