import { hostname } from 'node:os';
import process from 'node:process';
import { openStore } from '../stores/open.js';
import type { Store } from '../stores/store.js';
import { type Given, UsageError } from './command.js';

/** Opens the store of `--store`, runs `use`, and closes the store. */
export async function* withStore(
  given: Given,
  use: (store: Store) => AsyncIterable<string>,
): AsyncIterable<string> {
  const url = given.text('store');
  if (url === undefined) throw new UsageError('--store is required, for example --store sqlite:./ids.db');
  const store = await openStore(url);
  try {
    yield* use(store);
  } finally {
    await store.close();
  }
}

/** The label of this process in lists of leases. */
export function processLabel(): string {
  return `${hostname()} ${process.pid}`.slice(0, 255);
}
