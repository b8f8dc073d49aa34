import { open, readFile } from 'node:fs/promises';
import process from 'node:process';
import { InvalidOptionError } from '../errors.js';
import { shownPath } from '../support/shown-path.js';
import { utf8Text } from './input.js';

/** Reads the keys of public ids by their ids, from the file of `--key-file`. @throws InvalidOptionError naming the mistake */
export async function readKeyFile(file: string): Promise<Record<number, string>> {
  return keysIn(await readPrivately(file), file);
}

/**
 * The keys in the text of a file: one key alone, which has the id 1, or lines of a key id and a key. Empty lines and lines that
 * begin with `#` do not count.
 *
 * @throws InvalidOptionError naming the line. The message never shows the contents.
 */
function keysIn(text: string, file: string): Record<number, string> {
  const lines = text.split('\n').map((line, i) => ({ words: line.trim().split(/\s+/), number: i + 1 }));
  const given = lines.filter(({ words: [first = ''] }) => first !== '' && !first.startsWith('#'));
  if (given.length === 0)
    throw new InvalidOptionError(`--key-file ${file} has no key: make one with openssl rand -hex 32`);
  if (text.trimStart().startsWith('{'))
    throw new InvalidOptionError(
      `--key-file ${file} is JSON: it must have one key, or lines of a key id and a key, as in "1 2b7e15…"`,
    );
  const [only] = given;
  if (given.length === 1 && only?.words.length === 1) return { 1: only.words[0] as string };
  const keys: Record<number, string> = {};
  for (const { words, number } of given) {
    const [id = '', key = ''] = words;
    if (words.length !== 2 || !/^\d{1,3}$/.test(id))
      throw new InvalidOptionError(
        `--key-file ${file}, line ${number}: must be a key id and a key, as in "1 2b7e15…"`,
      );
    if (Object.hasOwn(keys, Number(id)))
      throw new InvalidOptionError(`--key-file ${file}, line ${number}: key id ${id} comes a second time`);
    keys[Number(id)] = key;
  }
  return keys;
}

/** @throws InvalidOptionError naming a file that cannot be read, or that other users can read */
async function readPrivately(file: string): Promise<string> {
  // Without the cause, whose message has the path.
  const handle = await open(file).catch(({ code }: NodeJS.ErrnoException) => {
    throw new InvalidOptionError(`--key-file ${shownPath(file)} cannot be read: ${code}`);
  });
  try {
    const stats = await handle.stat();
    if (stats.isFile() && process.platform !== 'win32' && (stats.mode & 0o077) !== 0)
      throw new InvalidOptionError(`--key-file ${file} is open to other users: run chmod 600 ${file}`);
    const bytes = await readFile(handle).catch((cause: NodeJS.ErrnoException) => {
      throw new InvalidOptionError(`--key-file ${file} cannot be read: ${cause.code ?? cause.message}`, {
        cause,
      });
    });
    return utf8Text(bytes, `--key-file ${file}`);
  } finally {
    await handle.close();
  }
}
