import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

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
