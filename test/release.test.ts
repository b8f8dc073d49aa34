import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const root = fileURLToPath(new URL('..', import.meta.url));
const textOf = (...path: string[]) => readFileSync(join(root, ...path), 'utf8');
const { scripts } = JSON.parse(textOf('package.json'));

describe.each(readdirSync(join(root, 'packages')))('The package %s', (name) => {
  const manifest = JSON.parse(textOf('packages', name, 'package.json'));

  it('says where it comes from', () => {
    const project = 'https://github.com/idsmith/idsmith';
    expect(manifest).toMatchObject({
      license: 'MIT',
      homepage: 'https://idsmith.github.io/idsmith/',
      bugs: `${project}/issues`,
      repository: { type: 'git', url: `git+${project}.git`, directory: `packages/${name}` },
    });
    expect(manifest.engines.node).toBe(JSON.parse(textOf('package.json')).engines.node);
  });

  it('has its licence, and a readme', () => {
    expect(textOf('packages', name, 'LICENSE')).toBe(textOf('LICENSE'));
    // That of the library is the project's own, copied when it is packed.
    const copied = manifest.scripts?.prepack?.includes('copy-readme');
    expect(copied || existsSync(join(root, 'packages', name, 'README.md'))).toBe(true);
  });
});

it.runIf(existsSync(join(root, '.git')))('No file names the host of a registry', () => {
  const hosts = ['npm', 'yarnpkg'].flatMap((name, i) => ['-e', `${name}${['js.', '.com'][i]}`]);
  const { status, stdout } = spawnSync('git', ['grep', '-lIF', ...hosts], { cwd: root, encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
});

describe('The workflows', () => {
  const files = readdirSync(join(root, '.github/workflows'));

  it.each(files)('%s runs scripts that are there', (file) => {
    const text = textOf('.github/workflows', file);
    expect(parse(text).jobs).toBeTypeOf('object');
    const ran = [...text.matchAll(/npm run (?:--silent )?([\w:-]+)/g)].map((match) => match[1] as string);
    expect(ran.filter((script) => !(script in scripts))).toEqual([]);
    const programs = [...text.matchAll(/node (scripts\/[\w./-]+)/g)].map((match) => match[1] as string);
    expect(programs.filter((program) => !existsSync(join(root, program)))).toEqual([]);
  });

  it('try every version of Node that is promised', () => {
    const { jobs } = parse(textOf('.github/workflows/ci.yml'));
    expect(jobs.quick.strategy.matrix.node).toEqual([20, 22, 24, 26]);
  });

  it.each(readdirSync(join(root, '.github/ISSUE_TEMPLATE')))('%s is a form', (file) => {
    const form = parse(textOf('.github/ISSUE_TEMPLATE', file));
    expect(file === 'config.yml' || form.body.every((field: { id?: string }) => field.id)).toBe(true);
  });
});

describe('node scripts/release.mjs', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'idsmith-release-'));
  afterAll(() => rmSync(scratch, { recursive: true, force: true }));
  beforeAll(() => {
    for (const file of ['package.json', 'CHANGELOG.md', 'scripts/release.mjs']) {
      cpSync(join(root, file), join(scratch, file));
    }
    for (const name of readdirSync(join(root, 'packages'))) {
      mkdirSync(join(scratch, 'packages', name), { recursive: true });
      cpSync(join(root, 'packages', name, 'package.json'), join(scratch, 'packages', name, 'package.json'));
    }
  });
  const release = (...args: string[]) =>
    spawnSync(process.execPath, [join(scratch, 'scripts/release.mjs'), ...args], { encoding: 'utf8' });

  it('changes nothing while the changelog has no section for it', () => {
    const before = readFileSync(join(scratch, 'package.json'), 'utf8');
    writeFileSync(join(scratch, 'CHANGELOG.md'), '# Changelog\n\n## 0.1.0 (2026-11-16)\n');
    expect(release('9.8.7')).toMatchObject({ status: 1, stderr: expect.stringContaining('(unreleased)') });
    expect(readFileSync(join(scratch, 'package.json'), 'utf8')).toBe(before);
  });

  it('sets one version everywhere, and says when one is missing', () => {
    const changes = `- ${'Something is better now. '.repeat(10)}`;
    writeFileSync(join(scratch, 'CHANGELOG.md'), `# Changelog\n\n## 9.8.7 (unreleased)\n\n${changes}\n`);
    expect(release('--check', '9.8.7')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('@idsmith/server is'),
    });
    expect(release('9.8.7').status).toBe(0);
    expect(release('--notes', '9.8.7').stdout.length).toBeGreaterThan(100);
    expect(release('--check', '9.8.7')).toMatchObject({ status: 0, stderr: '' });
    const server = JSON.parse(readFileSync(join(scratch, 'packages/server/package.json'), 'utf8'));
    expect(server).toMatchObject({ version: '9.8.7', dependencies: { idsmith: '9.8.7' } });
  });

  it.each([[], ['soon'], ['--publish', '1.0.0']])('refuses %j', (...args) => {
    expect(release(...args).status).toBe(2);
  });
});

describe('What is installed with the packages', () => {
  it('has licences that ask for nothing but their text', () => {
    expect(
      execFileSync(process.execPath, [join(root, 'scripts/licences.mjs')], { encoding: 'utf8' }),
    ).toContain('MIT\tfastify');
  });
});
