import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const packageDir = fileURLToPath(new URL('../packages/idsmith/', import.meta.url));
const manifest = JSON.parse(readFileSync(join(packageDir, 'package.json'), 'utf8'));
const entries = Object.keys(manifest.exports)
  .filter((entry) => !entry.endsWith('.json'))
  .map((entry) => entry.replace(/^\./, 'idsmith'));

// A user's folder with nothing in it but the packed tarball: no peer, no dependency.
const home = mkdtempSync(join(tmpdir(), 'idsmith-packed-'));
const installed = join(home, 'node_modules', 'idsmith');
afterAll(() => rmSync(home, { recursive: true, force: true }));

beforeAll(() => {
  execFileSync('npm', ['pack', '--silent', '--pack-destination', home], { cwd: packageDir });
  const tarball = readdirSync(home).find((name) => name.endsWith('.tgz')) as string;
  mkdirSync(installed, { recursive: true });
  execFileSync('tar', ['-xzf', join(home, tarball), '-C', installed, '--strip-components=1']);
});

function runThere(code: string): string {
  const file = join(home, 'program.mjs');
  writeFileSync(file, code);
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], { cwd: home, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout.trim();
}

describe('the packed package', () => {
  it.each(entries)('has the entry %s, which loads with no peer installed', (entry) => {
    expect(Number(runThere(`console.log(Object.keys(await import('${entry}')).length)`))).toBeGreaterThan(0);
  });

  it('mints', () => {
    const id = runThere(
      `import { LocalityGenerator } from 'idsmith'; console.log(new LocalityGenerator().next())`,
    );
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-b[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/);
  });

  it('has a command line that starts', () => {
    const bin = join(installed, 'bin', 'idsmith.js');
    expect(execFileSync(process.execPath, [bin, '--version'], { encoding: 'utf8' })).toBe(
      `${manifest.version}\n`,
    );
  });

  it('has no runtime dependency, and holds its licence and readme but no tests', () => {
    expect(manifest.dependencies).toBeUndefined();
    const files = readdirSync(installed);
    expect(files.sort()).toEqual(['LICENSE', 'README.md', 'bin', 'dist', 'package.json', 'src']);
  });
});
