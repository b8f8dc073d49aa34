import type { Store } from 'idsmith';
import type { Keyring } from './auth/keyring.js';
import type { Settings } from './config/settings.js';
import type { Replays } from './http/idempotency-cache.js';
import type { Gate } from './http/in-flight-limit.js';
import type { Transit } from './http/response-backlog.js';
import type { Keys } from './mint/key-minter.js';
import type { Mint } from './mint/leased-minter.js';
import type { Drawer } from './mint/sequence-pool.js';
import type { Health } from './ops/health.js';
import type { Log } from './ops/log.js';
import type { Metrics } from './ops/metrics.js';
import type { Inspect } from './routes/operations.js';

/** The parts of a running server, which its routes use. */
export interface Services {
  readonly settings: Settings;
  readonly version: string;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly store: Store;
  readonly mint: Mint;
  readonly drawer: Drawer;
  readonly keys: Keys;
  readonly keyring: Keyring;
  readonly replays: Replays;
  readonly gate: Gate;
  readonly transit: Transit;
  readonly health: Health;
  readonly inspect: Inspect;
}
