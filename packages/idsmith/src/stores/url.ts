import { InvalidOptionError } from '../errors.js';
import { nearestName, refuseName } from '../options.js';

/** The scheme of a URL, in lower case and without its colon; empty if the URL has none. */
export function schemeOf(url: string): string {
  return /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase() ?? '';
}

/**
 * `url` if it can be parsed and decoded. Drivers check the URL only when they connect, and may quote the password then.
 *
 * @throws InvalidOptionError naming the scheme and nothing else of the URL
 */
export function requireServerUrl(url: string): string {
  try {
    const { username, password, pathname } = new URL(url);
    for (const part of [username, password, pathname]) decodeURIComponent(part);
    if (/^[^:]+:\/\//.test(url)) return url;
  } catch {
    // The parser's error carries the URL, with the password in it.
  }
  const scheme = schemeOf(url);
  throw new InvalidOptionError(
    `url must look like ${scheme}://user:password@host:port/database, with special characters of the ` +
      `password percent-encoded; this ${scheme}: URL cannot be parsed`,
  );
}

/** The host and port of a URL, for messages: `10.0.0.1:5432`. A setting `host` or `port` wins, as drivers have it. */
export function addressOf(url: string, defaultPort: number): string {
  const { hostname, port, searchParams } = new URL(url);
  const host = searchParams.get('host') || decodeURIComponent(hostname) || 'localhost';
  return host.startsWith('/') ? host : `${host}:${searchParams.get('port') || port || defaultPort}`;
}

/**
 * Checks the settings after the `?` of a URL.
 *
 * @throws InvalidOptionError naming the setting that is unknown, without its value
 */
export function requireSettings(what: string, settings: URLSearchParams, known: readonly string[]): void {
  for (const name of settings.keys()) if (!known.includes(name)) refuseName(what, name, known);
}

/**
 * Checks a URL for misspelt settings. A driver may know more settings than this library, and hosting providers add settings
 * that nobody reads, so an unknown name passes. A name that is nearly a known one is a typing error.
 *
 * @throws InvalidOptionError naming the setting and the name that is meant
 */
export function refuseMisspeltSettings(url: string, known: readonly string[]): void {
  for (const name of new URL(url).searchParams.keys())
    if (!known.includes(name) && nearestName(name, known) !== undefined)
      refuseName('the settings of the URL', name, known);
}
