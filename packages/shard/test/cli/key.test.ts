import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ShardMap } from '@idsmith/shard';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeWith } from '#services';
import { idsmith } from '../../../idsmith/test/cli/in-process.ts';
import { bin, idsmith as spawned } from '../../../idsmith/test/cli/run.ts';
import { repeated } from '../../../idsmith/test/support/unique.ts';
import { type Shards, startShards } from '../start-shards.ts';

const folder = mkdtempSync(join(tmpdir(), 'idsmith-cli-key-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fileOf(name: string, content: string | Uint8Array): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

await describeWith(['redis'], 'idsmith key', () => {
  let shards: Shards;
  let config: string;
  const password = 'correct-horse-battery';

  beforeAll(async () => {
    shards = await startShards([1, 2, 3, 4], {}, { args: ['--requirepass', password] });
    config = fileOf('shards.json', JSON.stringify({ ...shards.config, auth: { password } }));
  });

  afterAll(() => shards?.stop());

  it('prints keys of a type, one a line', async () => {
    const { status, stderr, lines } = await idsmith(
      'key',
      '--type',
      'user',
      '-n',
      '25000',
      '--config',
      config,
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(lines).toHaveLength(25_000);
    expect(repeated(lines)).toEqual([]);
    const map = new ShardMap(shards.config);
    expect(new Set(lines.map((key) => map.getType(key)))).toEqual(new Set(['user']));
  });

  it.each([
    ['shards.js', (text: string) => `exports.config = ${text};`],
    ['shards.cjs', (text: string) => `module.exports = ${text};`],
    ['both.cjs', (text: string) => `const made = ${text}; exports.config = made; exports.other = 5;`],
    ['shards.mjs', (text: string) => `export default ${text};`],
    ['named.mjs', (text: string) => `export const config = ${text};`],
  ])('takes its config from %s', (name, content) => {
    const text = JSON.stringify({ ...shards.config, auth: { password } });
    const { status, stderr, lines } = spawned('key', '--config', fileOf(name, content(text)));
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(lines).toHaveLength(1);
  });

  it('prints one of the default type unless told otherwise, and takes the number of a type', async () => {
    expect((await idsmith('key', '--config', config)).stdout).toMatch(/^[0-9A-Za-z]{9}zz\n$/);
    expect((await idsmith('key', '--type', '62', '--config', config)).stdout).toMatch(/^[0-9A-Za-z]{9}10\n$/);
  });

  it('gives an object with --json, and nothing of how it logged in', async () => {
    const { stdout, stderr } = await idsmith('key', '-n', '3', '--json', '--config', config);
    expect(JSON.parse(stdout).ids).toHaveLength(3);
    expect(stdout + stderr).not.toContain(password);
  });

  it('stops when its reader goes away', async () => {
    const child = spawn(process.execPath, [bin, 'key', '-n', '1000000', '--config', config]);
    child.stdout.once('data', () => child.stdout.destroy());
    const code = await new Promise((resolve) => child.once('close', resolve));
    expect(code).toBe(0);
  });

  it('exits with 1 and names the node when none answers, without the password', async () => {
    const dead = { shards: { 0: ['1', '127.0.0.1', 1] }, auth: { user: 'me', password } };
    const { status, stdout, stderr } = await idsmith(
      'key',
      '--config',
      fileOf('dead.json', JSON.stringify(dead)),
    );
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^idsmith: node 127\.0\.0\.1:1: minting keys failed: .*ECONNREFUSED/);
    expect(stderr).not.toContain(password);
  });
});

describe('idsmith key', () => {
  const good = fileOf('good.json', JSON.stringify({ shards: { 0: ['1', '127.0.0.1', 1] } }));
  const weightless = fileOf('weightless.json', JSON.stringify({ shards: { 0: ['1', '127.0.0.1', 0] } }));
  const misspelt = fileOf(
    'misspelt.json',
    JSON.stringify({ shards: { 0: ['1', '127.0.0.1', 1] }, options: { keytypes: { user: 2 } } }),
  );
  const broken = fileOf('broken.json', '{ "auth": { "password": "hunter22" }, ');

  const latin1 = fileOf('latin1.json', Buffer.from('{\n "password": "M\xfcller" }', 'latin1'));
  const unparsable = fileOf('unparsable.cjs', "exports.config = { password: 'hunter22' hunter22 }");
  const failing = fileOf('failing.cjs', "throw new Error('no vault')");
  const empty = fileOf('empty.mjs', 'export const shards = {};');
  const inModule = fileOf('inModule.mjs', "exports.config = { password: 'hunter22' };");

  // Node loads these modules, not the loader of the tests.
  it.each([
    [['--config', unparsable], /unparsable\.cjs cannot be loaded: it is not valid JavaScript/],
    [['--config', failing], /failing\.cjs cannot be loaded: no vault/],
    [['--config', inModule], /inModule\.mjs cannot be loaded: exports is not defined.*must end in \.cjs/],
    [['--config', empty], /empty\.mjs exports no config: use exports\.config or export default/],
  ])('of %j exits with 2 and prints no key', (args, message) => {
    const { status, stdout, stderr } = spawned('key', ...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('hunter22');
  });

  it.each([
    [[], /--config is required/],
    [['--config', join(folder, 'nowhere.json')], /nowhere\.json cannot be read: ENOENT/],
    [['--config', latin1], /--config .*latin1\.json, line 2: not UTF-8/],
    [['--config', broken], /broken\.json is not JSON/],
    [['--config', misspelt], /options: unknown name "keytypes"; did you mean "keyTypes"\?/],
    [['--config', weightless], /weight of shards\.0 .* not 0/],
    [['--config', good, '--type', 'nosuch'], /type .*"nosuch"/],
    [['--config', good, '--type', '3844'], /type .*3844/],
    [['--config', good, '-n', '0'], /--count .*0/],
    [['--config', good, 'surplus'], /takes no "surplus"/],
  ])('of %j exits with 2 and prints no key', async (args, message) => {
    const { status, stdout, stderr } = await idsmith('key', ...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain('hunter22');
  });
});
