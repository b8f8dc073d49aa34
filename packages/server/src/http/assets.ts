import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join, sep } from 'node:path';
import { InvalidOptionError } from 'idsmith';

/** A file and its headers. */
export interface Asset {
  readonly bytes: Buffer;
  readonly type: string;
  readonly cache: string;
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

/** A file name with a hash of the contents, as bundlers make them: `app-BxK3f9aQ.js`. */
const HASHED = /[.-](?=[\w-]*\d)[\w-]{8,}\.\w+$/;

/**
 * The files of the console, read once when the server starts and found by their exact path. A request can reach no other file.
 */
export class Assets {
  readonly #files = new Map<string, Asset>();

  /**
   * @param folder an empty text for no files
   * @throws InvalidOptionError if the folder cannot be read or has no index.html
   */
  constructor(folder: string) {
    if (folder === '') return;
    try {
      for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
        const path = join(folder, name);
        if (statSync(path).isFile()) this.#files.set(`/${name.split(sep).join('/')}`, read(path));
      }
    } catch (error) {
      throw new InvalidOptionError(`assets: ${(error as Error).message}`, { cause: error });
    }
    if (!this.#files.has('/index.html')) throw new InvalidOptionError(`assets: ${folder} has no index.html`);
  }

  /** The contents of `index.html`, if the file exists. */
  get page(): Buffer | undefined {
    return this.#files.get('/index.html')?.bytes;
  }

  get(path: string): Asset | undefined {
    return this.#files.get(path);
  }
}

function read(path: string): Asset {
  return {
    bytes: readFileSync(path),
    type: TYPES[extname(path)] ?? 'application/octet-stream',
    cache: HASHED.test(path) ? 'public, max-age=31536000, immutable' : 'no-cache',
  };
}

/** The folder that the setting `assets` means: the console's for an empty text, none (an empty text) for `none`. */
export function assetsFolder(setting: string): string {
  if (setting === 'none') return '';
  return setting === '' ? consoleFolder() : setting;
}

/** The folder of the console's files; an empty text if `@idsmith/console` is not installed or not built. */
function consoleFolder(): string {
  try {
    const manifest = createRequire(import.meta.url).resolve('@idsmith/console/package.json');
    const folder = join(dirname(manifest), 'dist');
    return existsSync(join(folder, 'index.html')) ? folder : '';
  } catch {
    return '';
  }
}
