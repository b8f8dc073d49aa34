import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';

const { compileScripts } = (await import(new URL('../../scripts/compile-lua.mjs', import.meta.url).href)) as {
  compileScripts(folder: string, sharing?: Sharing): string;
};

interface Sharing {
  exported?: string[];
  others?: { folder: string; from: string };
}

const HEADER = '-- Does it.\n--\n-- Returns  1\n';
const folders: string[] = [];

/** A folder with scripts that are given by their paths. */
function folderOf(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'idsmith-lua-'));
  folders.push(folder);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

const compile = (files: Record<string, string>, sharing?: Sharing) =>
  compileScripts(folderOf(files), sharing);

/** What a module exports, where its imports are these constants. */
async function load(module: string, constants = ''): Promise<Record<string, string>> {
  const code = module.replace(/^import [^;]*;$/gm, '');
  return { ...(await import(`data:text/javascript,${encodeURIComponent(constants + code)}`)) };
}

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

describe('Compiling Lua scripts', () => {
  it('names a script for its file, documents it with its first sentence, and leaves comments out', () => {
    const text =
      '-- Adds a\n-- number. Slowly.\n--\n-- Returns  1\n\n-- Why.\nlocal a = 1\n  -- Why.\n\nreturn a\n';
    expect(compile({ 'sums/add-number.lua': text })).toContain(
      '/** Adds a number. See sums/add-number.lua. */\nexport const ADD_NUMBER = `\nlocal a = 1\nreturn a`;\n',
    );
  });

  it('keeps the text of a script in a template literal', async () => {
    const line = `return '\\n' .. '\`' .. '\${x}'`;
    const module = compile({ 'a/b.lua': `${HEADER}\n${line}\n` });
    expect((await load(module)).B).toBe(`\n${line}`);
  });

  it('joins each included file once, after those that it includes itself', async () => {
    const module = compile({
      'include/one.lua': '-- Sets one.\n\nlocal one = 1\n',
      'include/two.lua': '-- Sets two.\n\n--- @include "one"\n\nlocal two = 2 * one\n',
      'a/b.lua': `${HEADER}\n--- @include "two"\n--- @include "one"\n\nreturn one + two\n`,
    });
    expect(await load(module)).toEqual({ B: '\nlocal one = 1\nlocal two = 2 * one\nreturn one + two' });
    expect(module.split('local one').length - 1).toBe(1);
  });

  it('takes includes of another package from the module that exports them', async () => {
    const folder = folderOf({
      'include/one.lua': '-- Sets one.\n--\n-- KEYS[1]  a key\n\nlocal one = KEYS[1]\n',
    });
    expect(Object.keys(await load(compileScripts(folder, { exported: ['one'] })))).toEqual(['ONE']);
    const module = compile(
      { 'a/b.lua': `${HEADER}\n--- @include "one"\n\nreturn one\n` },
      { others: { folder, from: 'first/internal' } },
    );
    expect(module).toContain("import { ONE } from 'first/internal';\n");
    expect(await load(module, "const ONE = 'one';")).toEqual({ B: 'one\nreturn one' });
  });

  it('puts constants in place of their directives', async () => {
    const module = compile({ 'a/b.lua': `${HEADER}\n--- @const LAST\n--- @const WORD\n\nreturn LAST\n` });
    expect(module).toContain("import { LAST, WORD } from './script-constants.js';\n");
    const { B } = await load(module, "const [LAST, WORD] = [3843, 'stale'];");
    expect(B).toBe('\nlocal LAST = 3843\nlocal WORD = "stale"\nreturn LAST');
  });

  it.each([
    ['a directive after code', `${HEADER}\nlocal a\n--- @const LAST\n`, 'a/b.lua: a directive after code'],
    ['an unknown directive', `${HEADER}\n--- @import "x"\n`, 'a/b.lua: not a directive: --- @import "x"'],
    ['an include without its file', `${HEADER}\n--- @include "x"\n`, 'a/b.lua: there is no include/x.lua'],
    ['a reply without a name', '-- Does it.\n\nreturn 1\n', 'a/b.lua: the header does not name Returns'],
    ['a key without a name', `${HEADER}\nreturn KEYS[1]\n`, 'a/b.lua: the header does not name KEYS[1]'],
    ['an argument without a name', `${HEADER}\nreturn ARGV[12]\n`, 'the header does not name ARGV[12]'],
  ])('refuses %s', (_, text, message) => {
    expect(() => compile({ 'a/b.lua': text })).toThrow(message);
  });
});
