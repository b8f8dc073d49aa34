import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** The folder that a setting names: nothing is the console's, `none` is none. */
export function assetsFolder(setting: string): string {
  if (setting === 'none') return '';
  return setting === '' ? consoleFolder() : setting;
}

/** The folder of the console's files, if the package `@idsmith/console` is here and built; otherwise nothing. */
function consoleFolder(): string {
  try {
    const manifest = createRequire(import.meta.url).resolve('@idsmith/console/package.json');
    const folder = join(dirname(manifest), 'dist');
    return existsSync(join(folder, 'index.html')) ? folder : '';
  } catch {
    return '';
  }
}
