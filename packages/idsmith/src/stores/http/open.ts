import type { DisposableStore } from '../store.js';
import { splitToken } from './server-url.js';
import { httpStore } from './store.js';

/**
 * The store of a URL like `https://token@host:7600`. Asks the server for its capabilities first.
 *
 * @throws InvalidOptionError when the URL is not of that form; the message does not show the token
 * @throws StoreError when the server does not answer
 */
export async function openHttp(url: string): Promise<DisposableStore> {
  const { url: server, token } = splitToken(url);
  const store = httpStore(server, token === undefined ? {} : { token });
  await store.now?.();
  return store;
}
