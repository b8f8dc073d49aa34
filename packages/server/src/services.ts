import type { Store } from 'idsmith';
import type { Drawer } from './drawer.js';
import type { Health } from './health.js';
import type { Keyring } from './keyring.js';
import type { Keys } from './keys.js';
import type { Gate } from './limits.js';
import type { Log } from './log.js';
import type { Metrics } from './metrics.js';
import type { Mint } from './mint.js';
import type { Replays } from './replays.js';
import type { Inspect } from './routes/operations.js';
import type { Settings } from './settings.js';
import type { Transit } from './transit.js';

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
