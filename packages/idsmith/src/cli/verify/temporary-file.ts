import { mkdtempSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import process from 'node:process';
import type { Given } from '../command.js';
import { requireSqliteFile, similarFile } from '../sqlite-file.js';
import type { StoreUrl } from '../store.js';
import type { Report } from './report.js';
import type { Target } from './target.js';

/**
 * The path of a SQLite file that is not there yet, and that a temporary file can stand in for. A name that is nearly the name of
 * another file may be a mistake, and gives `undefined`.
 *
 * @throws StoreError when there can be no file at the path
 */
export function missingFile({ url, source }: StoreUrl): string | undefined {
  const file = requireSqliteFile(source, url, true);
  return file?.isNew && similarFile(file.path) === undefined ? file.path : undefined;
}

/**
 * Runs a trial on a temporary file in the folder of a missing one, so that the disk and its locks are those of the later file.
 * The file is removed at the end, and nothing is made at the path itself.
 */
export async function onTemporaryFile(
  missing: string,
  { activity }: Given,
  run: (target: Target) => Promise<Report>,
): Promise<Report> {
  const folder = mkdtempSync(join(dirname(missing), 'idsmith-verify-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  // A second Ctrl-C ends the process at once.
  process.once('exit', remove);
  activity.say(`there is no file ${missing}: trying ${join(folder, 'ids.db')}`);
  try {
    const report = await run({ url: `sqlite:${relative('', join(folder, 'ids.db'))}` });
    const note = `there is no file ${missing} yet: the run used a temporary one in the same folder, and removed it`;
    return { ...report, notes: [note, ...report.notes] };
  } finally {
    remove();
    process.off('exit', remove);
  }
}
