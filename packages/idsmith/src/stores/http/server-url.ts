import { InvalidOptionError } from '../../errors.js';

/**
 * The URL of a server without a slash at its end.
 *
 * @throws InvalidOptionError without the URL, which may hold a token
 */
export function requireServerUrl(url: unknown): string {
  if (typeof url !== 'string' || !URL.canParse(url)) throw badUrl();
  const { protocol, origin, pathname, search, hash, username, password } = new URL(url);
  const isPlain = [search, hash, username, password].every((part) => part === '');
  if (!isPlain || (protocol !== 'http:' && protocol !== 'https:')) throw badUrl();
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

/**
 * The URL and the token of a URL like `https://token@host:7600`.
 *
 * @throws InvalidOptionError when the URL cannot be parsed; the message does not show the URL
 */
export function splitToken(url: string): { url: string; token: string | undefined } {
  if (!URL.canParse(url)) throw badUrl();
  const parsed = new URL(url);
  // Tokens of idsmith have no character that a URL must escape.
  const token = parsed.password || parsed.username || undefined;
  parsed.username = parsed.password = '';
  return { url: parsed.href, token };
}

function badUrl(): InvalidOptionError {
  return new InvalidOptionError('the URL of a server must look like https://host:7600, without query');
}
