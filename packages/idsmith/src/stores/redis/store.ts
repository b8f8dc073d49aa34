import { InvalidOptionError } from '../../errors.js';
import { requireChoice, requireInteger, requireKnown } from '../../options.js';
import { type IoredisClient, type NodeRedisClient, textClient } from '../../redis/client.js';
import { redisError } from '../../redis/error.js';
import { ScriptRunner } from '../../redis/script-runner.js';
import { sequenceStore } from '../../sequence/rows.js';
import { loadDriver, ownedStore, requireSettings } from '../driver.js';
import type { Store } from '../memory/store.js';
import { redisLeases } from './leases.js';
import { redisRows } from './sequences.js';

export type { IoredisClient, NodeRedisClient };

/** Settings of a Redis store. */
export interface RedisStoreOptions {
  /**
   * Set to `true` if this Redis never loses an acknowledged write: one server with `appendonly yes` and
   * `appendfsync always` that no replica ever replaces. Default `false`. The store then does not trust data of another
   * server, or of the same server before a restart: it drops such leases, and such sequences give out no id until their
   * `next` is altered.
   */
  readonly durable?: boolean;
  /** The longest ttl of a lease, ms. Default 60,000, or no limit if `durable`. */
  readonly maxTtl?: number;
  /** The longest time that an operation may take, ms. Default 5,000. */
  readonly timeout?: number;
}

// The longest that a timer can be set to.
const MAX_MS = 2 ** 31 - 1;

/**
 * A store in Redis 5 or later, a single server or a Cluster. A namespace is one hash, `idsmith:lease:{namespace}`. A
 * sequence is one hash, `idsmith:sequence:{name}`, and has an entry in the set `idsmith:sequences`.
 *
 * @param client a client of `ioredis` or of `redis`; the caller configures and closes it
 * @throws InvalidOptionError when the client belongs to neither package, or an option is out of range
 *
 * @example
 * const store = redisStore(new Redis({ maxRetriesPerRequest: 1, autoResendUnfulfilledCommands: false }));
 */
export function redisStore(client: IoredisClient | NodeRedisClient, options: RedisStoreOptions = {}): Store {
  requireKnown('options', options, ['durable', 'maxTtl', 'timeout']);
  const timeout = requireInteger('timeout', options.timeout ?? 5000, 1, MAX_MS);
  const errorOf = (operation: string, error: unknown) => redisError('redis store', operation, error);
  const runner = new ScriptRunner(textClient(client), { timeout, errorOf });
  const durable = requireChoice('durable', options.durable, [false, true]);
  const maxTtl = options.maxTtl ?? (durable ? undefined : 60_000);
  if (maxTtl !== undefined) requireInteger('maxTtl', maxTtl, 1, MAX_MS);
  return {
    ...sequenceStore(redisRows(runner, durable)),
    ...redisLeases(runner, durable, maxTtl),
    durable,
    ...(maxTtl !== undefined && { maxTtl }),
    async close() {},
  };
}

/**
 * The store of a URL like `rediss://user:password@host:6379/0?durable=true&maxTtl=30000`. The store has an `ioredis` client
 * of its own, which connects on first use. `close()` ends the client.
 *
 * @throws InvalidOptionError when the URL has another form
 * @throws StoreError when `ioredis` is not installed
 */
export async function openRedis(url: string): Promise<Store> {
  const { target, options } = parseUrl(url);
  const { Redis } = await loadDriver('ioredis', () => import('ioredis'));
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
