import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';

const { compileScripts } = (await import(new URL('../../scripts/compile-lua.mjs', import.meta.url).href)) as {
  compileScripts(folder: string, constants: Record<string, string | number>): string;
};

const HEADER = '-- Does it.\n--\n-- Returns  1\n';
const folders: string[] = [];

/** The module of scripts that are given by their paths. */
function compile(files: Record<string, string>, constants: Record<string, string | number> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'idsmith-lua-'));
  folders.push(folder);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return compileScripts(folder, constants);
}

/** The text of the only script in a module. */
const scriptIn = (module: string) => /= `\n(.*)`;\n$/s.exec(module)?.[1];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

describe('Compiling Lua scripts', () => {
  it('names a script for its file, documents it with its first sentence, and leaves comments out', () => {
    const text =
      '-- Adds a\n-- number. Slowly.\n--\n-- Returns  1\n\n-- Why.\nlocal a = 1\n  -- Why.\n\nreturn a\n';
    expect(compile({ 'sums/add-number.lua': text })).toContain(
      '/** Adds a number. See scripts/sums/add-number.lua. */\nexport const ADD_NUMBER = `\nlocal a = 1\nreturn a`;\n',
    );
  });

  it('keeps the text of a script in a template literal', async () => {
    const line = `return '\\n' .. '\`' .. '\${x}'`;
    const module = compile({ 'a/b.lua': `${HEADER}\n${line}\n` });
    const url = `data:text/javascript,${encodeURIComponent(module)}`;
    expect((await import(url)).B).toBe(`\n${line}`);
  });

  it('includes a file once, also if several files include it', () => {
    const module = compile({
      'include/one.lua': '-- Sets one.\n\nlocal one = 1\n',
      'include/two.lua': '-- Sets two.\n\n--- @include "one"\n\nlocal two = 2 * one\n',
      'a/b.lua': `${HEADER}\n--- @include "two"\n--- @include "one"\n\nreturn one + two\n`,
    });
    expect(scriptIn(module)).toBe('local one = 1\nlocal two = 2 * one\nreturn one + two');
  });

  it('puts constants in place of their directives', () => {
    const module = compile(
      { 'a/b.lua': `${HEADER}\n--- @const LAST\n--- @const WORD\n\nreturn LAST\n` },
      { LAST: 3843, WORD: 'stale' },
    );
    expect(scriptIn(module)).toBe("local LAST = 3843\nlocal WORD = 'stale'\nreturn LAST");
  });

  it.each([
    ['an unknown constant', `${HEADER}\n--- @const LAST\n`, 'a/b.lua: there is no constant LAST'],
    ['an unknown directive', `${HEADER}\n--- @import "x"\n`, 'a/b.lua: not a directive: --- @import "x"'],
    ['an include without its file', `${HEADER}\n--- @include "x"\n`, 'include/x.lua'],
    ['a reply without a name', '-- Does it.\n\nreturn 1\n', 'a/b.lua: the header does not name Returns'],
    ['a key without a name', `${HEADER}\nreturn KEYS[1]\n`, 'a/b.lua: the header does not name KEYS[1]'],
    ['an argument without a name', `${HEADER}\nreturn ARGV[12]\n`, 'the header does not name ARGV[12]'],
  ])('refuses %s', (_, text, message) => {
    expect(() => compile({ 'a/b.lua': text })).toThrow(message);
  });
});
