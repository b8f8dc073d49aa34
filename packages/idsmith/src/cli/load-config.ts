import { readFile } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { InvalidOptionError } from '../errors.js';
import { utf8Text } from './input.js';

/** The endings of files that are run as JavaScript. All other files hold JSON. */
const MODULE_ENDINGS = ['.js', '.cjs', '.mjs'];

/**
 * Loads the config in a file: JSON, or a JavaScript module that exports it as `config`, as its default, or as
 * `module.exports`.
 *
 * @param flag the flag that names the file, for messages
 * @throws InvalidOptionError naming a file that cannot be read. The message never shows the contents.
 */
export async function loadConfig(flag: string, file: string): Promise<unknown> {
  const bytes = await readFile(file).catch((cause: NodeJS.ErrnoException) => {
    throw new InvalidOptionError(`--${flag} ${file} cannot be read: ${cause.code ?? cause.message}`, {
      cause,
    });
  });
  if (MODULE_ENDINGS.includes(extname(file))) return loadModule(flag, file);
  const text = utf8Text(bytes, `--${flag} ${file}`);
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes the file, which may hold a password.
    throw new InvalidOptionError(
      `--${flag} ${file} is not JSON. A file of JavaScript must end in .js, .cjs or .mjs`,
    );
  }
}

async function loadModule(flag: string, file: string): Promise<unknown> {
  const loaded = (await import(pathToFileURL(resolve(file)).href).catch((cause: Error) => {
    // The message of a SyntaxError quotes the file, too.
    const reason = cause instanceof SyntaxError ? 'it is not valid JavaScript' : cause.message;
    throw new InvalidOptionError(
      `--${flag} ${file} cannot be loaded: ${reason}. A file with exports.config must end in .cjs if its package has type module`,
      { cause },
    );
  })) as { config?: unknown; default?: { config?: unknown } };
  const config = loaded.config ?? loaded.default?.config ?? loaded.default;
  if (config !== undefined) return config;
  throw new InvalidOptionError(`--${flag} ${file} exports no config: use exports.config or export default`);
}
