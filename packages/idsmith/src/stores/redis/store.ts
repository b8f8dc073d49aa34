import { InvalidOptionError } from '../../errors.js';
import { requireNamespace } from '../../lease/namespace.js';
import type { LeaseRecord } from '../../lease/port.js';
import { NAMESPACE_ID } from '../../lease/protocol.js';
import { requireChoice, requireInteger, requireKnown } from '../../options.js';
import { evaluator, type IoredisClient, type NodeRedisClient, ON_MASTER } from '../../redis/evaluate.js';
import { sequenceStore } from '../../sequence/rows.js';
import { loadPackage } from '../../support/load-package.js';
import { ownedStore } from '../owned-store.js';
import type { Store } from '../store.js';
import { requireSettings } from '../url.js';
import { redisRows } from './sequences.js';

export type { IoredisClient, NodeRedisClient };

/** How a Redis store behaves. */
export interface RedisStoreOptions {
  /**
   * That this Redis loses no acknowledged write: one server with `appendonly yes` and `appendfsync always` that no
   * replica ever replaces. Default `false`: of what another server, or the same one before a restart, has kept, leases are
   * dropped, and sequences give out no id until their `next` is altered.
   */
  readonly durable?: boolean;
  /** The longest ttl of a lease, ms. Default 60,000 unless durable. */
  readonly maxTtl?: number;
  /** How long an operation may take, ms. Default 5,000. */
  readonly timeout?: number;
}

// The longest that a timer can be set to.
const MAX_MS = 2 ** 31 - 1;

// What another server has kept, or this one before a restart, may be older than what was acknowledged: it is dropped.
const PROLOGUE = `${ON_MASTER}
local forgotten = ARGV[1] == 'forgetful' and redis.call('HGET', KEYS[1], 'server') ~= server
`;

const LIST = `${PROLOGUE}
if forgotten then return {} end
return redis.call('HVALS', KEYS[1])`;

const SWAP = `${PROLOGUE}
local id, expected, next = ARGV[2], ARGV[3], ARGV[4]
local current = not forgotten and redis.call('HGET', KEYS[1], id)
if expected == '' then
  if current then return 0 end
elseif not current or string.sub(current, 1, #expected) ~= expected then
  return 0
end
local time = redis.call('TIME')
if tonumber(ARGV[5]) < time[1] * 1000 + math.floor(time[2] / 1000) then return 0 end
if forgotten then redis.call('DEL', KEYS[1]) end
redis.call('HSET', KEYS[1], 'server', server, id, next)
return 1`;

const TIME = `return redis.call('TIME')`;

/**
 * A store in Redis 5 or later, a single server or a Cluster. A namespace is one hash, `idsmith:lease:{namespace}`, and a
 * sequence another, `idsmith:sequence:{name}`; their names are in the set `idsmith:sequences`.
 *
 * @param client a client of `ioredis` or of `redis`, which stays the caller's to configure and to close
 * @throws InvalidOptionError when it is neither, or an option is out of range
 *
 * @example
 * const store = redisStore(new Redis({ maxRetriesPerRequest: 1, autoResendUnfulfilledCommands: false }));
 */
export function redisStore(client: IoredisClient | NodeRedisClient, options: RedisStoreOptions = {}): Store {
  requireKnown('options', options, ['durable', 'maxTtl', 'timeout']);
  const timeout = requireInteger('timeout', options.timeout ?? 5000, 1, MAX_MS);
  const evaluate = evaluator(client, timeout);
  const durable = requireChoice('durable', options.durable, [false, true]);
  const maxTtl = options.maxTtl ?? (durable ? undefined : 60_000);
  if (maxTtl !== undefined) requireInteger('maxTtl', maxTtl, 1, MAX_MS);
  const memory = durable ? 'durable' : 'forgetful';
  return {
    ...sequenceStore(redisRows(evaluate, durable)),
    durable,
    ...(maxTtl !== undefined && { maxTtl }),

    async now() {
      // A key, so that a Cluster always asks the same node.
      const reply = await evaluate('reading the clock', TIME, 'idsmith:clock');
      const [seconds, micros] = (reply as unknown[]).map(Number) as [number, number];
      return seconds * 1000 + Math.floor(micros / 1000);
    },

    async listLeases(namespace) {
      const reply = await evaluate('listing leases', LIST, keyOf(namespace), memory);
      return (reply as unknown[])
        .map(String)
        .filter((value) => value.startsWith('['))
        .map(decode);
    },

    async swapLease(namespace, expected, next) {
      const before = expected === undefined ? '' : stateOf(expected);
      const after = stateOf(next) + next.label;
      // The date of a namespace that was meant for one since lost comes too late: see LeaseStore.durable.
      const notAfter =
        next.id === NAMESPACE_ID && maxTtl !== undefined ? next.fence - maxTtl : Number.MAX_SAFE_INTEGER;
      const args = [memory, String(next.id), before, after, String(notAfter)];
      return Number(await evaluate('swapping a lease', SWAP, keyOf(namespace), ...args)) === 1;
    },

    async close() {},
  };
}

// The braces make Cluster choose the slot by the namespace alone; none of its own are left to end them early.
const keyOf = (namespace: string) => `idsmith:lease:{${encodeURIComponent(requireNamespace(namespace))}}`;

/** What a swap compares: one line, always the same text for the same values. The label follows it. */
const stateOf = ({ id, owner, epoch, fence, expiresAt }: LeaseRecord) =>
  `${JSON.stringify([id, owner, epoch, fence, expiresAt])}\n`;

function decode(value: string): LeaseRecord {
  const end = value.indexOf('\n');
  const [id, owner, epoch, fence, expiresAt] = JSON.parse(value.slice(0, end));
  return { id, owner, epoch, fence, expiresAt, label: value.slice(end + 1) };
}

/**
 * The store of a URL like `rediss://user:password@host:6379/0?durable=true&maxTtl=30000`, with an `ioredis` client of
 * its own that `close()` ends. It connects when it is first used.
 *
 * @throws InvalidOptionError when the URL is not of that form
 * @throws StoreError when `ioredis` is not installed
 */
export async function openRedis(url: string): Promise<Store> {
  const { target, options } = parseUrl(url);
  const { Redis } = await loadPackage('ioredis', () => import('ioredis'));
  const client = new Redis(target, {
    lazyConnect: true,
    connectTimeout: 5000,
    maxRetriesPerRequest: 1,
    // A swap that was cut off may have happened; sent again it would be reported as refused.
    autoResendUnfulfilledCommands: false,
  });
  // What goes wrong is reported by the call that it befalls; without a listener ioredis prints it as well.
  client.on('error', () => {});
  return ownedStore(redisStore(client, options), () => client.disconnect());
}

function parseUrl(url: string): { target: string; options: RedisStoreOptions } {
  // Neither the URL nor the parser's error may be shown: both hold the password.
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
