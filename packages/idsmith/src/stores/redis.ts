import { bytesToHex } from '../encoding/hex.js';
import { InvalidOptionError } from '../errors.js';
import { requireNamespace } from '../lease/namespace.js';
import type { LeaseRecord } from '../lease/port.js';
import { NAMESPACE_ID } from '../lease/protocol.js';
import { refuse, requireChoice, requireInteger } from '../options.js';
import { loadDriver, ownedStore } from './driver.js';
import type { Store } from './memory.js';
import { storeError } from './sql.js';

/** What is needed of a client of the package `ioredis`, a `Redis` or a `Cluster`. */
export interface IoredisClient {
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  evalsha(sha: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
}

/** What is needed of a client of the package `redis`, made by `createClient` or `createCluster`. */
export interface NodeRedisClient {
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
  evalSha(sha: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** How a Redis store behaves. */
export interface RedisStoreOptions {
  /**
   * That this Redis loses no acknowledged write: one server with `appendonly yes` and `appendfsync always` that no
   * replica ever replaces. Default `false`: what another server, or the same one before a restart, has kept is dropped.
   */
  readonly durable?: boolean;
  /** The longest ttl of a lease, ms. Default 60,000 unless durable. */
  readonly maxTtl?: number;
  /** How long an operation may take, ms. Default 5,000. */
  readonly timeout?: number;
}

// The longest that a timer can be set to.
const MAX_MS = 2 ** 31 - 1;

// A restart may have lost the last writes, and so may the replica that a failover promotes. Redis takes a new
// replication id on both occasions and never an old one again; the run id would be the same when a master, demoted
// and synchronised with the older data of its successor, is promoted a second time. Replicas share their master's
// replication id, hence the look at the role.
const PROLOGUE = `
local info = redis.call('INFO', 'replication')
local server = string.match(info, 'master_replid:(%w+)')
if not server then return redis.error_reply('ERR INFO replication gives no master_replid') end
if not string.find(info, 'role:master', 1, true) then
  return redis.error_reply('READONLY leases need the master, and this is a replica')
end
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
 * A store in Redis 5 or later, a single server or a Cluster. A namespace is one hash, `idsmith:lease:{namespace}`.
 *
 * @param client a client of `ioredis` or of `redis`, which stays the caller's to configure and to close
 * @throws InvalidOptionError when it is neither, or an option is out of range
 *
 * @example
 * const store = redisStore(new Redis({ maxRetriesPerRequest: 1, autoResendUnfulfilledCommands: false }));
 */
export function redisStore(client: IoredisClient | NodeRedisClient, options: RedisStoreOptions = {}): Store {
  const timeout = requireInteger('timeout', options.timeout ?? 5000, 1, MAX_MS);
  const evaluate = evaluator(client, timeout);
  const durable = requireChoice('durable', options.durable, [false, true]);
  const maxTtl = options.maxTtl ?? (durable ? undefined : 60_000);
  if (maxTtl !== undefined) requireInteger('maxTtl', maxTtl, 1, MAX_MS);
  const memory = durable ? 'durable' : 'forgetful';
  return {
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

type Evaluate = (operation: string, script: string, key: string, ...args: string[]) => Promise<unknown>;

function evaluator(client: IoredisClient | NodeRedisClient, timeout: number): Evaluate {
  const send = sender(client);
  const run = async (script: string, key: string, args: string[]) => {
    try {
      return await send('sha', await sha1(script), key, args);
    } catch (error) {
      // Nothing was run: the server has started, or its scripts were flushed, since it last saw this one.
      if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
      return send('text', script, key, args);
    }
  };
  return async (operation, script, key, ...args) => {
    try {
      return await within(timeout, run(script, key, args));
    } catch (error) {
      throw storeError(`redis store: ${operation}`, error);
    }
  };
}

type Send = (kind: 'sha' | 'text', script: string, key: string, args: string[]) => Promise<unknown>;

function sender(client: IoredisClient | NodeRedisClient): Send {
  const has = (method: string) =>
    typeof (client as unknown as Record<string, unknown>)?.[method] === 'function';
  if (has('evalSha')) {
    const redis = client as NodeRedisClient;
    return async (kind, script, key, args) =>
      redis[kind === 'sha' ? 'evalSha' : 'eval'](script, { keys: [key], arguments: args });
  }
  if (has('evalsha')) {
    const redis = client as IoredisClient;
    return async (kind, script, key, args) =>
      redis[kind === 'sha' ? 'evalsha' : 'eval'](script, 1, key, ...args);
  }
  return refuse('client', 'a client of the package ioredis or redis', client);
}

async function sha1(text: string): Promise<string> {
  return bytesToHex(new Uint8Array(await crypto.subtle.digest('SHA-1', new TextEncoder().encode(text))));
}

/** Fails when there is no answer in time. The command may still be run later, which a swap allows for. */
async function within<T>(ms: number, answer: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
  });
  return Promise.race([answer, silence]).finally(() => clearTimeout(timer));
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
  const { Redis } = await loadDriver('ioredis', () => import('ioredis'));
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
  for (const name of parsed.searchParams.keys())
    if (name !== 'durable' && name !== 'maxTtl')
      refuse('a setting of a Redis URL', 'durable or maxTtl', name);
  const durable = requireChoice('durable', parsed.searchParams.get('durable') ?? 'false', ['false', 'true']);
  const maxTtl = parsed.searchParams.get('maxTtl');
  parsed.search = '';
  return {
    target: parsed.href,
    options: { durable: durable === 'true', ...(maxTtl !== null && { maxTtl: Number(maxTtl) }) },
  };
}
