// Compiles Lua scripts into the text of one TypeScript module.
//
// A script is named for its file: `lease/swap-lease.lua` becomes the constant SWAP_LEASE. Its first comment is its header: a
// sentence, then KEYS, ARGV and Returns. Two directives stand on lines of their own:
//
//   --- @include "clock"   the text of include/clock.lua, once in a script
//   --- @const STALE       `local STALE = 'stale'`, with the value that is given for the name

import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** The folder of files that are parts of scripts. */
const INCLUDE = 'include';

/**
 * The module with all scripts of a folder.
 *
 * @param {string} folder
 * @param {Record<string, string | number>} constants the values that `@const` can name
 * @throws {Error} naming the file with an unknown directive, include or constant, or an incomplete header
 */
export function compileScripts(folder, constants) {
  const rooms = readdirSync(folder).filter((room) => room !== INCLUDE);
  const files = rooms.flatMap((room) => readdirSync(join(folder, room)).map((file) => `${room}/${file}`));
  const parts = files.sort().map((file) => {
    const { lines, header } = compile({ folder, constants, file, done: new Set() });
    requireHeader(file, lines, header);
    const name = basename(file, '.lua').replaceAll('-', '_').toUpperCase();
    const lua = lines.join('\n').replace(/[\\`]|\$\{/g, '\\$&');
    return `/** ${firstSentence(header)} See scripts/${file}. */\nexport const ${name} = \`\n${lua}\`;\n`;
  });
  const note =
    '// Generated from scripts/*/*.lua by scripts/build-lua.mjs. Change those files, and run `npm run lua`.\n';
  return [note, ...parts].join('\n');
}

/** The lines of a script without comments, and the headers of the script and of all files that it includes. */
function compile({ folder, constants, file, done }) {
  const source = readFileSync(join(folder, file), 'utf8').split('\n');
  const end = source.findIndex((line) => !line.startsWith('--'));
  const header = source.slice(0, end).map((line) => line.slice(3));
  const lines = [];
  for (const line of source) {
    if (!line.startsWith('---')) {
      if (!/^\s*(--|$)/.test(line)) lines.push(line);
      continue;
    }
    const [, directive, name] =
      /^--- @(?:(const) (\w+)|(include) "([\w-]+)")$/.exec(line)?.filter(Boolean) ?? [];
    if (directive === undefined) throw new Error(`${file}: not a directive: ${line}`);
    // The text of an earlier directive serves the whole script.
    if (done.has(name)) continue;
    done.add(name);
    if (directive === 'const') lines.push(`local ${name} = ${luaValue(file, name, constants)}`);
    else {
      const included = compile({ folder, constants, file: `${INCLUDE}/${name}.lua`, done });
      lines.push(...included.lines);
      header.push(...included.header);
    }
  }
  return { lines, header };
}

function luaValue(file, name, constants) {
  const value = Object.hasOwn(constants, name) ? constants[name] : undefined;
  if (Number.isInteger(value)) return String(value);
  if (typeof value === 'string' && /^[\w-]*$/.test(value)) return `'${value}'`;
  throw new Error(`${file}: there is no constant ${name}`);
}

/** Checks that the headers name the reply, and every KEYS and ARGV that the script uses. */
function requireHeader(file, lines, header) {
  const used = lines.join('\n').match(/\b(KEYS|ARGV)\[\d+\]/g) ?? [];
  for (const name of ['Returns', ...used])
    if (!header.some((line) => line.startsWith(`${name} `)))
      throw new Error(`${file}: the header does not name ${name}`);
}

/** The first sentence of a header, which may go over several lines. */
function firstSentence(header) {
  const paragraph = header.slice(0, header.indexOf('')).join(' ');
  return paragraph.replace(/^(.*?\.)( .*)?$/, '$1');
}
