import process from 'node:process';
import { InvalidOptionError } from '../errors.js';
import { openStore } from '../stores/open.js';
import type { Store } from '../stores/store.js';
import { schemeOf } from '../stores/url.js';
import { type Arguments, type Flag, type Flags, type Given, UsageError } from './command.js';
import { requireSqliteFile } from './sqlite-file.js';

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
export function storeUrl(given: Arguments): StoreUrl | undefined {
  const flag = given.text('store');
  const { IDSMITH_STORE: variable } = process.env;
  if (flag !== undefined) return { url: flag, source: '--store' };
  return variable ? { url: variable, source: 'IDSMITH_STORE' } : undefined;
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
  const named = storeUrl(given);
  if (named === undefined)
    throw new UsageError(
      '--store is required, for example --store sqlite:./ids.db; the variable IDSMITH_STORE stands in for it',
    );
  const store = await open(named, creates, given);
  try {
    yield* use(store);
  } finally {
    await store.close();
  }
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
  activity.wait(`waiting for the store ${file?.path ?? addressOf(url)}`);
  try {
    return await openStore(url);
  } catch (error) {
    if (error instanceof InvalidOptionError)
      throw new InvalidOptionError(`${source}: ${error.message}`, { cause: error });
    throw error;
  }
}

/** A URL without user, password and settings. */
export function addressOf(url: string): string {
  const [place = ''] = url.replace(/^([^:]*:\/\/).*@/s, '$1').split('?');
  return schemeOf(url) === '' ? '' : place;
}
