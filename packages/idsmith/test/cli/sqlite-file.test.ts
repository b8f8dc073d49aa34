import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requireSqliteFile } from '../../src/cli/store.ts';
import { openStore } from '../../src/stores/open.ts';
import { idsmith } from './in-process.ts';
import { idsmithIn } from './run.ts';

const folder = mkdtempSync(join(tmpdir(), 'idsmith-cli-file-'));
const at = (name: string) => join(folder, name);
const urlOf = (name: string) => `sqlite:${at(name)}`;
afterAll(() => rmSync(folder, { recursive: true, force: true }));

beforeAll(async () => {
  const store = await openStore(urlOf('ids.db'));
  await store.listSequences();
  await store.close();
  mkdirSync(at('folder'));
  writeFileSync(at('notes.txt'), 'not a database, only text');
  writeFileSync(at('short'), 'SQLite');
  writeFileSync(at('empty.db'), '');
  symlinkSync('loop', at('loop'));
});

const check = (url: string, creates: boolean) => requireSqliteFile('--store', url, creates);

describe('A command that reads', () => {
  it.each([
    ['seq', 'list'],
    ['seq', 'show', 'x'],
    ['seq', 'next', 'x'],
    ['seq', 'alter', 'x', '--block-size', '5'],
    ['seq', 'remove', 'x'],
    ['leases', '--namespace', 'x'],
  ])('makes no file for a mistyped path: %s %s', async (...args) => {
    const { status, stdout, stderr } = await idsmith(...args, '--store', urlOf('idz.db'));
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toBe(
      `idsmith: --store: there is no file ${at('idz.db')}: idsmith init, idsmith seq define, idsmith flake and idsmith uuid7 make one. ` +
        `Did you mean ${at('ids.db')}?\n`,
    );
    expect(readdirSync(folder).filter((name) => name.startsWith('idz'))).toEqual([]);
  });
});

describe('A command that defines or mints', () => {
  it.each([
    ['define.db', ['seq', 'define', 'orders']],
    ['flake.db', ['flake']],
  ])('makes %s, and says where with --verbose', async (name, args) => {
    const { status, stderr } = idsmithIn(
      { cwd: folder },
      ...args,
      '--store',
      `sqlite:./${name}`,
      '--verbose',
    );
    expect(status).toBe(0);
    expect(stderr).toContain(`idsmith: making the database ${at(name)}\n`);
    expect(existsSync(at(name))).toBe(true);
    const again = idsmithIn({ cwd: folder }, 'seq', 'list', '--store', `sqlite:./${name}`, '--verbose');
    expect(again.status).toBe(0);
    expect(again.stderr).not.toContain('making');
  });
});

describe('A wrong definition or name', () => {
  it.each([
    ['seq', 'define', 'x', '--start', 'ten'],
    ['seq', 'define', 'x', '--step', '0'],
    ['seq', 'define', 'x', '--step', '9007199254740993'],
    ['seq', 'define', 'x', '--min', '5', '--max', '1'],
    ['seq', 'define', ''],
    ['flake', '--namespace', ''],
    ['flake', '-n', '0'],
  ])('makes no file: %j', async (...args) => {
    const { status, stdout, stderr } = await idsmith(...args, '--store', urlOf('unmade.db'));
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/must be/);
    expect(existsSync(at('unmade.db'))).toBe(false);
  });
});

describe('The file of a store', () => {
  it.each([
    ['nowhere/ids.db', `the folder ${at('nowhere')} does not exist: make it, or correct the path`],
    ['folder', `${at('folder')} is a folder: name a file in it`],
    ['notes.txt', `${at('notes.txt')} is not a SQLite database`],
    ['short', `${at('short')} is not a SQLite database`],
    ['notes.txt/ids.db', `${at('notes.txt')} is not a folder`],
    ['notes.txt/deep/ids.db', `the folder ${at('notes.txt/deep')} does not exist`],
    ['loop', `${at('loop')} cannot be reached: ELOOP`],
    [`${'x'.repeat(300)}`, 'cannot be reached: ENAMETOOLONG'],
  ])('%s is refused with a reason', (name, message) => {
    for (const creates of [false, true]) expect(() => check(urlOf(name), creates)).toThrow(message);
    for (const creates of [false, true])
      expect(() => check(`SQLite://${at(name)}`, creates)).toThrow(message);
  });

  it('may be a database, or empty; something that is no file is refused', () => {
    for (const name of ['ids.db', 'empty.db'])
      expect(check(urlOf(name), false)).toEqual({ path: at(name), isNew: false });
    expect(check(urlOf('new.db'), true)).toEqual({ path: at('new.db'), isNew: true });
    expect(() => check('sqlite:/dev/null', true)).toThrow('/dev/null is not a file');
  });

  it.each([
    'sqlite::memory:',
    'memory:',
    'postgres://localhost/x',
    'sqlite:',
    'nonsense',
    'sqlite:x?mode=ro',
  ])('is not looked for in %s', (url) => {
    expect(check(url, false)).toBeUndefined();
  });
});

// Root may write everything, so that another user has to try.
describe.runIf(process.getuid?.() === 0)('A user without permission', () => {
  const NOBODY = 65_534;

  beforeAll(() => {
    chmodSync(folder, 0o755);
    mkdirSync(at('closed'), { mode: 0o755 });
    mkdirSync(at('open'), { mode: 0o777 });
    chmodSync(at('open'), 0o777);
    writeFileSync(at('open/ids.db'), '', { mode: 0o644 });
    writeFileSync(at('open/secret.db'), '', { mode: 0o600 });
  });

  it.each([
    ['open/ids.db', `${at('open/ids.db')} is read-only for this user`],
    ['open/secret.db', `this user may not read ${at('open/secret.db')}`],
    ['closed/ids.db', `this user may not write in the folder ${at('closed')}`],
  ])('gets a clear message for %s', (name, message) => {
    const script = `
      import { requireSqliteFile } from ${JSON.stringify(new URL('../../dist/internal/cli.js', import.meta.url).href)};
      process.setuid(${NOBODY});
      try { requireSqliteFile('--store', ${JSON.stringify(urlOf(name))}, true); console.log('no error'); }
      catch (error) { console.log(error.message); }`;
    expect(runScript(script)).toContain(message);
  });
});

function runScript(script: string): string {
  return spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }).stdout;
}
