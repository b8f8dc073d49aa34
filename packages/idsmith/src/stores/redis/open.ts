import { InvalidOptionError } from '../../errors.js';
import { requireChoice } from '../../options.js';
import { loadPackage } from '../../support/load-package.js';
import { ownedStore } from '../owned-store.js';
import type { Store } from '../store.js';
import { requireSettings } from '../url.js';
import { type RedisStoreOptions, redisStore } from './store.js';

/**
 * The store of a URL like `rediss://user:password@host:6379/0?durable=true&maxTtl=30000`. The store has an `ioredis` client
 * of its own, which connects on first use. `close()` ends the client.
 *
 * @throws InvalidOptionError when the URL has another form
 * @throws StoreError when `ioredis` is not installed
 */
export async function openRedis(url: string): Promise<Store> {
  const { target, options } = parseUrl(url);
  const { Redis } = await loadPackage('ioredis', () => import('ioredis'));
  const client = new Redis(target, {
    lazyConnect: true,
    connectTimeout: 5000,
    maxRetriesPerRequest: 1,
    // Redis may have run a swap whose connection was cut. If the client sent the swap again, Redis would refuse it.
    autoResendUnfulfilledCommands: false,
  });
  // Errors surface from the failing call. Without a listener, ioredis would print them as well.
  client.on('error', () => {});
  return ownedStore(redisStore(client, options), () => client.disconnect());
}

function parseUrl(url: string): { target: string; options: RedisStoreOptions } {
  // The URL and the error of the parser hold the password, so neither is shown.
  const form = 'redis://user:password@host:6379/0?durable=false&maxTtl=60000';
  if (!URL.canParse(url) || !/^rediss?:\/\/[^/?#]/i.test(url))
    throw new InvalidOptionError(`a Redis URL must look like ${form}`);
  const parsed = new URL(url);
  requireSettings('a Redis URL', parsed.searchParams, ['durable', 'maxTtl']);
  const durable = requireChoice('durable', parsed.searchParams.get('durable') ?? 'false', ['false', 'true']);
  const maxTtl = parsed.searchParams.get('maxTtl');
  parsed.search = '';
  return {
    target: parsed.href,
    options: { durable: durable === 'true', ...(maxTtl !== null && { maxTtl: Number(maxTtl) }) },
  };
}
