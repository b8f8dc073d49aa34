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
import { InvalidOptionError, StoreError } from '../errors.js';
import type { Lease } from '../lease/lease.js';
import { requireNamespace } from '../lease/namespace.js';
import type { NodeWait } from '../lease/node-wait.js';
import type { LeaseOptions } from '../lease/options.js';
import { nearestName, show } from '../options.js';
import type { Store } from '../stores/store.js';
import { schemeOf } from '../stores/url.js';
import { type Flag, type Flags, type Given, UsageError } from './command.js';

/** The URL of a store, and where the user has named it. */
export interface StoreUrl {
  readonly url: string;
  readonly source: '--store' | 'IDSMITH_STORE';
}

/** The flag that tells what a command does and waits for. */
export const VERBOSE: Flag = {
  type: 'boolean',
  help: 'tell on standard error what the command does and waits for',
};

/** The flags of every command that uses a store. */
export function storeFlags(help: string): Flags {
  return {
    store: { type: 'string', value: 'URL', help: `${help}; default the variable IDSMITH_STORE` },
    verbose: VERBOSE,
  };
}

/** The store of `--store`, else of the variable IDSMITH_STORE. An empty variable counts as not set. */
export function storeUrl(given: Given): StoreUrl | undefined {
  const flag = given.text('store');
  const { IDSMITH_STORE: variable } = given.io.env;
  if (flag !== undefined) return { url: flag, source: '--store' };
  return variable ? { url: variable, source: 'IDSMITH_STORE' } : undefined;
}

/** @throws UsageError when the user has named no store */
export function requireStoreUrl(given: Given): StoreUrl {
  const named = storeUrl(given);
  if (named !== undefined) return named;
  throw new UsageError(
    '--store is required, for example --store sqlite:./ids.db; the variable IDSMITH_STORE stands in for it',
  );
}

/** @throws UsageError for a server, whose store has a URL of its own */
export function refuseServer(url: string, command: string): void {
  if (/^https?$/.test(schemeOf(url)))
    throw new UsageError(
      `${command} needs the store itself, not a server: name the store of the server, for example postgres:`,
    );
}

/**
 * Opens the store that the user has named, runs `use`, and closes the store.
 *
 * @param creates true if a SQLite file that is missing is made
 */
export async function* withStore(
  given: Given,
  creates: boolean,
  use: (store: Store) => AsyncIterable<string>,
): AsyncIterable<string> {
  const store = await open(requireStoreUrl(given), creates, given);
  try {
    yield* use(store);
  } finally {
    await store.close();
  }
}

/**
 * Leases a node id from the store that the user has named, mints ids with it, and gives it back.
 *
 * @param acquire acquires the lease: `acquireLease` or `acquireFlakeLease`
 */
export async function* leasedIds<Options extends LeaseOptions>(
  given: Given,
  acquire: (store: Store, options: Options) => Promise<Lease>,
  options: Options,
  mint: (lease: Lease) => AsyncIterable<string>,
): AsyncIterable<string> {
  const { namespace } = options;
  requireNamespace(namespace);
  const { activity, signal } = given;
  yield* withStore(given, true, async function* (store) {
    const onWait = ({ message, ms }: NodeWait) => activity.wait(message, ms);
    const lease = await acquire(store, { ...options, onWait, signal });
    activity.end();
    activity.say(`leased node id ${lease.id} of namespace ${show(namespace)}`);
    try {
      yield* mint(lease);
    } finally {
      await lease.release();
      activity.say(`released node id ${lease.id}`);
    }
  });
}

/**
 * Every run of a command would have a memory of its own, and give the same node ids and numbers out again.
 *
 * @throws InvalidOptionError for a store in memory
 */
export function refuseMemory({ url, source }: StoreUrl): void {
  if (!/^(memory:|sqlite:(\/\/)?:memory:)/i.test(url)) return;
  throw new InvalidOptionError(
    `${source}: a store in memory belongs to one process and ends with it, so that every command would begin with the same ids: ` +
      'name one of sqlite:, postgres:, mysql:, redis:, dynamodb:, etcd: or http:',
  );
}

async function open(named: StoreUrl, creates: boolean, { activity }: Given): Promise<Store> {
  refuseMemory(named);
  const { url, source } = named;
  const file = requireSqliteFile(source, url, creates);
  if (file?.isNew) activity.say(`making the database ${file.path}`);
  activity.wait(`waiting for the store ${file?.path ?? withoutLogin(url)}`);
  try {
    // Loaded here: a command that needs no store starts without it.
    const { openStore } = await import('../stores/open.js');
    return await openStore(url);
  } catch (error) {
    if (error instanceof InvalidOptionError)
      throw new InvalidOptionError(`${source}: ${error.message}`, { cause: error });
    throw error;
  }
}

/** A URL without user, password and settings. */
export function withoutLogin(url: string): string {
  const [place = ''] = url.replace(/^([^:]*:\/\/).*@/s, '$1').split('?');
  return schemeOf(url) === '' ? '' : place;
}

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
  const fail: Fail = (reason, problem, cause) => {
    throw new StoreError(`${source}: ${problem}`, { cause, reason });
  };
  const found = statOf(path, fail);
  if (found === undefined) {
    requireFolder(dirname(path), fail);
    const similar = similarFile(path);
    const hint = similar === undefined ? '' : `. Did you mean ${similar}?`;
    if (!creates)
      fail(
        'NOT_FOUND',
        `there is no file ${path}: idsmith init, idsmith seq define, idsmith flake and idsmith uuid7 make one${hint}`,
      );
  } else if (found.isDirectory())
    fail('NOT_FOUND', `${path} is a folder: name a file in it, for example ${named}/ids.db`);
  else if (!found.isFile()) fail('NOT_FOUND', `${path} is not a file`);
  else requireDatabase(path, found, fail);
  return { path, isNew: found === undefined };
}

type Fail = (reason: StoreError['reason'], problem: string, cause?: unknown) => never;

function statOf(path: string, fail: Fail): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A file in the place of a folder. Later versions of Node take that for a missing entry.
    if (code === 'ENOTDIR') return undefined;
    return fail(code === 'EACCES' ? 'ACCESS_DENIED' : undefined, `${path} cannot be reached: ${code}`, error);
  }
}

/** SQLite needs to make files beside the database, too. */
function requireFolder(folder: string, fail: Fail): void {
  const found = statOf(folder, fail);
  if (found === undefined)
    fail('NOT_FOUND', `the folder ${folder} does not exist: make it, or correct the path`);
  if (!found?.isDirectory()) fail('NOT_FOUND', `${folder} is not a folder`);
  if (!may(folder, constants.W_OK | constants.X_OK))
    fail('ACCESS_DENIED', `this user may not write in the folder ${folder}`);
}

function requireDatabase(path: string, { size }: Stats, fail: Fail): void {
  if (!may(path, constants.R_OK)) fail('ACCESS_DENIED', `this user may not read ${path}`);
  if (size > 0 && beginningOf(path) !== MAGIC) fail('UNREADABLE', `${path} is not a SQLite database`);
  if (!may(path, constants.W_OK))
    fail('READ_ONLY', `${path} is read-only for this user: leases and sequences need to write`);
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
