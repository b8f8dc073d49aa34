import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A key for public ids. */
export const KEY = '2b7e151628aed2a6abf7158809cf4f3cef4359d8d580aa4f7f036d6f04fc6a94';

/** Writes a file of prefixes for `--public-ids`, and returns its path. */
export function writePublicKeys(folder: string): string {
  const file = join(folder, 'public-ids.json');
  const keys = { 1: KEY };
  const prefixes = { ord: { keys }, usr: { keys, of: 'uuid' }, inv: { keys, short: true } };
  writeFileSync(file, JSON.stringify(prefixes), { mode: 0o600 });
  return file;
}
