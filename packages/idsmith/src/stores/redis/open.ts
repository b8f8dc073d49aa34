import { InvalidOptionError } from '../../errors.js';
import { requireChoice, show } from '../../options.js';
import { loadRedisDriver, type RedisDriver } from '../../redis/load-driver.js';
import type { DisposableStore } from '../store.js';
import { addressOf, requireSettings } from '../url.js';
import { beginConnection, type RedisTarget } from './drivers.js';
import { OwnRedisClient } from './own-client.js';
import { type RedisStoreOptions, storeOn } from './store.js';

/** The wait for an answer, ms. */
const TIMEOUT = 5000;

/**
 * The store of a URL like `rediss://user:password@host:6379/0?durable=true&maxTtl=30000`. The store has a client of its own, of
 * the package `redis` or else of `ioredis`, which connects on first use. `close()` ends the client.
 *
 * @throws InvalidOptionError when the URL has another form
 * @throws StoreError when neither package is installed
 */
export async function openRedis(url: string): Promise<DisposableStore> {
  const parsed = parseUrl(url);
  return openParsed(await loadRedisDriver(), parsed, TIMEOUT);
}

/** The store of a URL with a given driver. */
export function openRedisWith(driver: RedisDriver, url: string, timeout = TIMEOUT): DisposableStore {
  return openParsed(driver, parseUrl(url), timeout);
}

function openParsed(driver: RedisDriver, parsed: ParsedUrl, timeout: number): DisposableStore {
  const { target, options, password } = parsed;
  const client = new OwnRedisClient(() => beginConnection(driver, target), timeout);
  return storeOn(
    client,
    { ...options, timeout: TIMEOUT + 50 },
    {
      at: addressOf(target.url, 6379),
      password,
      end: () => client.end(),
    },
  );
}

/** A Redis URL, taken apart. */
export interface ParsedUrl {
  readonly target: RedisTarget;
  readonly options: RedisStoreOptions;
  readonly password: string;
}

/** @throws InvalidOptionError when the URL has another form */
export function parseUrl(url: string): ParsedUrl {
  // The URL and the error of the parser hold the password, so neither is shown.
  const form = 'redis://user:password@host:6379/0?durable=false&maxTtl=60000';
  const parsed = /^rediss?:\/\/[^/?#]/i.test(url) ? parse(url) : undefined;
  if (parsed === undefined) throw new InvalidOptionError(`a Redis URL must look like ${form}`);
  requireSettings('a Redis URL', parsed.searchParams, ['durable', 'maxTtl']);
  const database = databaseOf(parsed.pathname);
  const durable = requireChoice('durable', parsed.searchParams.get('durable') ?? 'false', ['false', 'true']);
  const maxTtl = parsed.searchParams.get('maxTtl');
  parsed.search = parsed.hash = parsed.pathname = '';
  return {
    target: { url: parsed.href, database },
    password: decodeURIComponent(parsed.password),
    options: { durable: durable === 'true', ...(maxTtl !== null && { maxTtl: Number(maxTtl) }) },
  };
}

/** The URL; `undefined` if it cannot be parsed or decoded. */
function parse(url: string): URL | undefined {
  try {
    const parsed = new URL(url);
    for (const part of [parsed.username, parsed.password]) decodeURIComponent(part);
    return parsed;
  } catch {
    return undefined;
  }
}

function databaseOf(path: string): number {
  const name = path.slice(1);
  if (/^\d{0,9}$/.test(name)) return Number(name);
  // A path with these signs may be a password that was not percent-encoded.
  const shown = /[@:%]/.test(name) ? '' : `, not ${show(name)}`;
  throw new InvalidOptionError(
    `the database of a Redis URL must be a number, as in redis://host:6379/0${shown}`,
  );
}
