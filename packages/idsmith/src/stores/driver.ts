import { InvalidOptionError, StoreError } from '../errors.js';
import { nearestName, refuseName } from '../options.js';
import type { Store } from './memory/store.js';

/**
 * Loads a driver that is an optional peer dependency.
 *
 * @param name the package, as `npm install` calls it
 * @throws StoreError naming the package if it is not installed, or with the `cause` if it does not load
 *
 * @example
 * const pg = await loadDriver('pg', () => import('pg'));
 */
export async function loadDriver<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const { code, message } = error as { code?: string; message?: string };
    const missing = code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
    // A package may be there while one of its own is not: then "install it" would be the wrong advice.
    if (missing && (message?.includes(`'${name}'`) || message?.includes(`'${name}/`)))
      throw new StoreError(`the package ${name} is needed and not installed: npm install ${name}`, {
        cause: error,
      });
    throw new StoreError(`the package ${name} could not be loaded: ${message}`, { cause: error });
  }
}

/** The scheme of a URL, in lower case and without its colon; empty if it has none. */
export function schemeOf(url: string): string {
  return /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase() ?? '';
}

/**
 * `url` if it can be parsed and decoded. Drivers check this only when they connect, and may quote the password then.
 *
 * @throws InvalidOptionError which names the scheme and nothing else of the URL
 */
export function requireServerUrl(url: string): string {
  try {
    const { username, password, pathname } = new URL(url);
    for (const part of [username, password, pathname]) decodeURIComponent(part);
    if (/^[^:]+:\/\//.test(url)) return url;
  } catch {
    // The error would carry the URL, with the password in it.
  }
  const scheme = schemeOf(url);
  throw new InvalidOptionError(
    `url must look like ${scheme}://user:password@host:port/database, with special characters of the ` +
      `password percent-encoded; this ${scheme}: URL cannot be parsed`,
  );
}

/**
 * Checks the settings after the `?` of a URL.
 *
 * @throws InvalidOptionError naming the setting that is unknown, and no value
 */
export function requireSettings(what: string, settings: URLSearchParams, known: readonly string[]): void {
  for (const name of settings.keys()) if (!known.includes(name)) refuseName(what, name, known);
}

/**
 * Checks the settings of a URL that is for a driver. It may know more of them than are known here, and providers add some that
 * nobody reads; but a name that is nearly one of the known is a slip.
 *
 * @throws InvalidOptionError naming the setting and what it was meant to be
 */
export function refuseSlips(url: string, known: readonly string[]): void {
  for (const name of new URL(url).searchParams.keys())
    if (!known.includes(name) && nearestName(name, known) !== undefined)
      refuseName('the settings of the URL', name, known);
}

/** The store with a `close()` that ends the client made for it, once. */
export function ownedStore(store: Store, end: () => unknown): Store {
  let closed: Promise<void> | undefined;
  const close = async () => {
    try {
      await end();
    } catch (error) {
      throw new StoreError(`closing the store failed: ${(error as Error).message}`, { cause: error });
    }
  };
  return {
    ...store,
    close() {
      closed ??= close();
      return closed;
    },
  };
}
