import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { entries, manifest, PackedHome } from './packed-home.ts';

let home: PackedHome;
beforeAll(() => {
  home = new PackedHome({ scripts: true });
});
afterAll(() => home?.remove());

const runThere = (code: string) => home.run(home.write('program.mjs', code));

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

  it('makes public ids with no peer, and names the package that short ones need', () => {
    const said = runThere(`
      import { publicIds } from 'idsmith/public';
      const keys = { 1: Uint8Array.from({ length: 32 }, (_, i) => i) };
      const orders = publicIds({ prefix: 'ord', keys });
      console.log(orders.decode(orders.encode(5n)));
      try { publicIds({ prefix: 'ord', keys, short: true }); } catch (error) { console.log(error.code, error.message); }
    `);
    expect(said.split('\n')).toEqual([
      '5n',
      'INVALID_OPTION short ids need the package @noble/ciphers, which is not installed: npm install @noble/ciphers',
    ]);
  });

  it('has a command line that starts', () => {
    const bin = join(home.installed, 'bin', 'idsmith.js');
    expect(execFileSync(process.execPath, [bin, '--version'], { encoding: 'utf8' })).toBe(
      `${manifest.version}\n`,
    );
  });

  it('has no runtime dependency, and holds its licence and readme but no tests', () => {
    expect(manifest.dependencies).toBeUndefined();
    const files = readdirSync(home.installed);
    expect(files.sort()).toEqual(['LICENSE', 'README.md', 'bin', 'dist', 'package.json', 'src']);
  });
});
