import { InvalidOptionError, type Store } from 'idsmith';
import { openStore } from 'idsmith/stores';
import { Keyring } from './auth/keyring.js';
import { tokenFileOf } from './auth/tokens.js';
import type { Settings } from './config/settings.js';
import { Connections } from './http/connections.js';
import { IdempotencyCache } from './http/idempotency-cache.js';
import { InFlightLimit } from './http/in-flight-limit.js';
import { KeyMinter } from './mint/key-minter.js';
import { LeasedMinter } from './mint/leased-minter.js';
import { PublicIdCodecs } from './mint/public-id-codecs.js';
import { SequencePool } from './mint/sequence-pool.js';
import { Health } from './ops/health.js';
import type { Log } from './ops/log.js';
import { Metrics } from './ops/metrics.js';
import { withMetrics } from './ops/with-metrics.js';

/** The parts of a running server. */
export interface Services {
  readonly settings: Settings;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly store: Store;
  readonly minter: LeasedMinter;
  readonly sequences: SequencePool;
  readonly keys: KeyMinter;
  readonly publicIds: PublicIdCodecs;
  readonly keyring: Keyring;
  readonly idempotency: IdempotencyCache;
  readonly inFlight: InFlightLimit;
  readonly connections: Connections;
  readonly health: Health;
}

/**
 * Makes the parts of a server. The store is opened, and nothing else is started.
 *
 * @param given a store that its caller closes, instead of the one that the settings name
 */
export async function makeServices(settings: Settings, log: Log, given?: Store): Promise<Services> {
  const metrics = new Metrics();
  const publicIds = new PublicIdCodecs(settings.publicIds);
  const keys = await KeyMinter.open(settings.shards, metrics, log);
  const inner = given ? withoutClose(given) : await openStoreOf(settings);
  const store = withMetrics(inner, metrics);
  const minter = new LeasedMinter(store, settings, metrics, log);
  const inFlight = new InFlightLimit(settings.maxInFlight);
  metrics.inFlight = () => inFlight.count;
  return {
    ...{ settings, log, metrics, store, minter, keys, publicIds, inFlight },
    sequences: new SequencePool(store, metrics),
    keyring: new Keyring(tokenFileOf(settings.tokens), settings.rate, log),
    idempotency: new IdempotencyCache(metrics),
    connections: new Connections(settings.maxConnections),
    health: new Health(store, () => minter.refusals, log),
  };
}

async function openStoreOf({ store: url }: Settings): Promise<Store> {
  try {
    return await openStore(url);
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    if (code !== 'INVALID_OPTION') throw error;
    throw new InvalidOptionError(`store: ${message}`, { cause: error });
  }
}

/** The store with a `close()` that does nothing. */
function withoutClose(store: Store): Store {
  return new Proxy(store, {
    get: (target, key) => (key === 'close' ? async () => {} : Reflect.get(target, key, target)),
  });
}
