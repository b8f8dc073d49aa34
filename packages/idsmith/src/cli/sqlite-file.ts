import {
  accessSync,
  closeSync,
  constants,
  openSync,
  readdirSync,
  readSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { StoreError } from '../errors.js';
import { nearestName } from '../options.js';

/** The first bytes of every SQLite file that is not empty. */
const MAGIC = 'SQLite format 3\0';

/** The file of a SQLite URL. */
export interface SqliteFile {
  readonly path: string;
  /** True if the file is not there yet. */
  readonly isNew: boolean;
}

/**
 * Checks the file of a URL like `sqlite:./ids.db` before SQLite opens it: SQLite makes a file for every mistyped path, and has one
 * message for all that can be wrong. Other URLs are not checked, and give `undefined`.
 *
 * @param source where the user has named the URL, for messages: `--store`
 * @param creates true if a file that is missing may be made
 * @throws StoreError naming the path and the way out
 */
export function requireSqliteFile(source: string, url: string, creates: boolean): SqliteFile | undefined {
  const named = /^sqlite:(?:\/\/)?([^?]+)$/i.exec(url)?.[1];
  if (named === undefined || named === ':memory:') return undefined;
  const path = resolve(named);
  const fail = (problem: string, cause?: unknown): never => {
    throw new StoreError(`${source}: ${problem}`, { cause });
  };
  const found = statOf(path, fail);
  if (found === undefined) {
    requireFolder(dirname(path), fail);
    const similar = similarFile(path);
    const hint = similar === undefined ? '' : `. Did you mean ${similar}?`;
    if (!creates) fail(`there is no file ${path}: idsmith seq define and idsmith flake make one${hint}`);
  } else if (found.isDirectory()) fail(`${path} is a folder: name a file in it, for example ${named}/ids.db`);
  else if (!found.isFile()) fail(`${path} is not a file`);
  else requireDatabase(path, found, fail);
  return { path, isNew: found === undefined };
}

type Fail = (problem: string, cause?: unknown) => never;

function statOf(path: string, fail: Fail): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A file in the place of a folder. Later versions of Node take that for a missing entry.
    if (code === 'ENOTDIR') return undefined;
    return fail(`${path} cannot be reached: ${code}`, error);
  }
}

/** SQLite needs to make files beside the database, too. */
function requireFolder(folder: string, fail: Fail): void {
  const found = statOf(folder, fail);
  if (found === undefined) fail(`the folder ${folder} does not exist: make it, or correct the path`);
  if (!found?.isDirectory()) fail(`${folder} is not a folder`);
  if (!may(folder, constants.W_OK | constants.X_OK)) fail(`this user may not write in the folder ${folder}`);
}

function requireDatabase(path: string, { size }: Stats, fail: Fail): void {
  if (!may(path, constants.R_OK)) fail(`this user may not read ${path}`);
  if (size > 0 && beginningOf(path) !== MAGIC) fail(`${path} is not a SQLite database`);
  if (!may(path, constants.W_OK))
    fail(`${path} is read-only for this user: leases and sequences need to write`);
  requireFolder(dirname(path), fail);
}

function may(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

function beginningOf(path: string): string {
  const bytes = Buffer.alloc(MAGIC.length);
  const file = openSync(path, 'r');
  try {
    return bytes.toString('latin1', 0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}

/** A file beside the missing one with nearly the same name. */
export function similarFile(path: string): string | undefined {
  try {
    const nearest = nearestName(basename(path), readdirSync(dirname(path)));
    return nearest === undefined ? undefined : resolve(dirname(path), nearest);
  } catch {
    return undefined;
  }
}
