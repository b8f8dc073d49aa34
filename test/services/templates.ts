import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { makeFolder, removeFolder } from './guard.ts';

/** Names the folder of templates to the processes of a run. */
const VARIABLE = 'IDSMITH_TEST_TEMPLATES';

/** Called by vitest before a run. The first server of a kind makes its first data, and the others copy them. */
export function setup(): () => Promise<void> {
  const folder = makeFolder('templates');
  process.env[VARIABLE] = folder;
  return () => removeFolder(folder);
}

/**
 * Puts the first data of a server into a folder that is not there yet: a copy if this run has made such data
 * before, and otherwise the data that `make` makes.
 *
 * @param kind the name of the server's program
 */
export async function firstData(kind: string, data: string, make: () => Promise<void>): Promise<void> {
  const folder = process.env[VARIABLE];
  // Without a run of vitest there is none.
  if (folder === undefined || !existsSync(folder)) return make();
  const template = join(folder, kind);
  if (existsSync(template)) return copy(template, data);
  await make();
  const own = `${template}-${randomUUID()}`;
  await copy(data, own);
  // Others see a whole template or none. Another server may have been faster.
  await rename(own, template).catch(() => rm(own, { recursive: true, force: true }));
}

/** Copies a folder with the owners of its files. */
async function copy(from: string, to: string): Promise<void> {
  await promisify(execFile)('cp', ['-a', from, to]);
}
