import { type IdError, StoreError } from '../../errors.js';
import { requireChoice, requireInteger, requireKnown } from '../../options.js';
import {
  type IoredisClient,
  type NodeRedisClient,
  type ScriptClient,
  textClient,
} from '../../redis/client.js';
import { redisError, ScriptRunner } from '../../redis/script-runner.js';
import { sequenceStore } from '../../sequence/rows.js';
import { requireTimeout } from '../../support/timeout.js';
import { MAX_DELAY } from '../../support/timer.js';
import { makeStore, type OwnClient } from '../make-store.js';
import { SchemaGate } from '../schema-version.js';
import type { DisposableStore } from '../store.js';
import { redisLeases } from './leases.js';
import { Registry } from './registry.js';
import { checkedScripts, redisMarker } from './schema.js';
import { redisRows } from './sequences.js';

export type { IoredisClient, NodeRedisClient };

/** Settings of a Redis store. */
export interface RedisStoreOptions {
  /**
   * Set to `true` if this Redis never loses an acknowledged write: one server with `appendonly yes` and
   * `appendfsync always` that no replica ever replaces. Default `false`: after a restart or a failover, holders whose leases
   * are intact go on, all others wait, and sequences give out no id until their `next` is altered. See `docs/lineage.md`.
   */
  readonly durable?: boolean | undefined;
  /** The longest ttl of a lease, ms. Default 30,000, or no limit if `durable`. */
  readonly maxTtl?: number | undefined;
  /** The longest time that an operation may take, ms. Default 5,000. */
  readonly timeout?: number | undefined;
}

/**
 * A store in Redis 5 or later, a single server or a Cluster. A namespace is one hash, `idsmith:lease:{namespace}`. A sequence is one hash,
 * `idsmith:sequence:{name}`. The hash `idsmith:registry` has an entry for each of them. The key `idsmith:schema` tells the version of this form.
 *
 * @param client a client of `ioredis` or of `redis`; the caller configures and closes it
 * @throws InvalidOptionError when the client belongs to neither package, or an option is out of range
 *
 * @example
 * const store = redisStore(new Redis({ maxRetriesPerRequest: 1, autoResendUnfulfilledCommands: false }));
 */
export function redisStore(
  client: IoredisClient | NodeRedisClient,
  options: RedisStoreOptions = {},
): DisposableStore {
  return storeOn(textClient(client), options);
}

/** A store on a client that runs scripts, for `redisStore` and `openRedis`. */
export function storeOn(
  client: ScriptClient,
  options: RedisStoreOptions,
  own?: OwnClient & { readonly password?: string | undefined },
): DisposableStore {
  requireKnown('options', options, ['durable', 'maxTtl', 'timeout']);
  const timeout = requireTimeout(options.timeout, 5000);
  const place = own?.at === undefined ? '' : ` at ${own.at}`;
  const errorOf = (operation: string, error: unknown) =>
    withAdvice(redisError('redis store', operation + place, error, own?.password));
  const runner = new ScriptRunner(client, { timeout, errorOf });
  const durable = requireChoice('durable', options.durable, [false, true]);
  const maxTtl = options.maxTtl ?? (durable ? undefined : 30_000);
  if (maxTtl !== undefined) requireInteger('maxTtl', maxTtl, 1, MAX_DELAY);
  const schema = new SchemaGate('redis', redisMarker(runner));
  const scripts = checkedScripts(runner, schema);
  const registry = new Registry(scripts);
  const methods = {
    ...sequenceStore(redisRows(scripts, registry, durable)),
    ...redisLeases(scripts, registry, durable),
    schemaVersion: () => schema.admit(),
    confirmNames: () => registry.confirmNames(),
    ...(!durable && { areNamesDoubted: () => registry.isBlank() }),
    ...(maxTtl !== undefined && { maxTtl }),
  };
  return makeStore('redis', methods, own);
}

/** What to do about answers of a server that is not of the kind that the client takes it for, or has a setting that the answer does not name. */
const ADVICE: readonly (readonly [answer: RegExp, advice: string])[] = [
  [
    /failed: MOVED /,
    'the server is a node of a Redis Cluster: its URL begins with redis+cluster://, and a client of your own must be one of a Cluster',
  ],
  [
    /failed: ERR unknown command .?EVAL/i,
    'the server runs no scripts. If it is a Sentinel, the URL must be redis+sentinel://host:port/master, with the name of the master',
  ],
  [
    /failed: NOREPLICAS /,
    'min-replicas-to-write of the server is higher than the number of replicas that follow it',
  ],
];

function withAdvice(error: IdError): IdError {
  const [, advice] = ADVICE.find(([answer]) => answer.test(error.message)) ?? [];
  if (advice === undefined || !(error instanceof StoreError)) return error;
  return new StoreError(`${error.message}; ${advice}`, { cause: error.cause, reason: error.reason });
}
