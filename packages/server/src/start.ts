import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { InvalidOptionError, type Store } from 'idsmith';
import { openStore } from 'idsmith/stores';
import { Keyring } from './auth/keyring.js';
import { tokenFileOf } from './auth/tokens.js';
import { requireKnown } from './config/known-names.js';
import { complete, type Settings } from './config/settings.js';
import { buildApp } from './http/app.js';
import { Assets } from './http/assets.js';
import { assetsFolder } from './http/console-folder.js';
import { Replays } from './http/idempotency-cache.js';
import { Gate } from './http/in-flight-limit.js';
import { listen, requireSafeHost } from './http/listen.js';
import { Transit } from './http/response-backlog.js';
import { Keys } from './mint/key-minter.js';
import { Mint } from './mint/leased-minter.js';
import { Drawer } from './mint/sequence-pool.js';
import { Health } from './ops/health.js';
import { type Log, makeLog, writeToStderr } from './ops/log.js';
import { Metrics } from './ops/metrics.js';
import { observed } from './ops/with-metrics.js';
import { allRoutes } from './routes/all-routes.js';
import type { Inspect } from './routes/operations.js';
import type { Services } from './services.js';
import { closeServer } from './stop.js';

/** What a server is given besides its settings. */
export interface Parts {
  /** What an id says, for `/v1/inspect`. */
  readonly inspect: Inspect;
  /** In the place of the store that the settings name; it stays the caller's to close. */
  readonly store?: Store;
  /** Takes the lines of the log. Default standard error. */
  readonly write?: (line: string) => void;
  /** Sentences about the settings, to be logged. */
  readonly warnings?: readonly string[];
}

const PARTS: readonly (keyof Parts)[] = ['inspect', 'store', 'write', 'warnings'];

/** A server that listens. */
export interface RunningServer {
  /** Where, e.g. `http://127.0.0.1:7600`. */
  readonly url: string;
  /** Ends it: finishes requests, gives back the ends of blocks, releases leases and closes the store. */
  close(): Promise<void>;
}

/**
 * Starts a server. What is not set has its default.
 *
 * @throws InvalidOptionError naming the setting that is wrong
 * @throws StoreError when the store cannot be reached
 */
export async function startServer(given: Partial<Settings>, parts: Parts): Promise<RunningServer> {
  const settings = complete(given);
  requireKnown('the parts of the server', parts, PARTS);
  const log = makeLog(settings.log, parts.write ?? writeToStderr);
  for (const message of parts.warnings ?? []) log.warn('odd setting', { message });
  const assets = new Assets(assetsFolder(settings.assets));
  const services = await makeServices(settings, log, parts);
  let app: FastifyInstance | undefined;
  try {
    await services.keyring.open();
    await requireSafeHost(settings.host, services.keyring);
    // A store that is not there is better told now than by every request.
    await services.health.ping();
    await services.mint.start();
    app = buildApp(allRoutes(services, assets), services, assets);
    const url = await listen(app, settings);
    log.info('listening', { url, tokens: services.keyring.isRequired });
    let closed: Promise<void> | undefined;
    const close = () => {
      closed ??= closeServer(app as FastifyInstance, services);
      return closed;
    };
    return { url, close };
  } catch (error) {
    await closeServer(app, services);
    throw error;
  }
}

async function makeServices(settings: Settings, log: Log, parts: Parts): Promise<Services> {
  const metrics = new Metrics();
  const keys = new Keys(settings.shards, metrics, log);
  const inner = parts.store ? notClosed(parts.store) : await open(settings.store);
  const store = observed(inner, metrics);
  const mint = new Mint(store, settings, metrics, log);
  const gate = new Gate(settings.maxInFlight);
  metrics.inFlight = () => gate.waiting;
  return {
    ...{ settings, log, metrics, store, mint, gate, keys, inspect: parts.inspect, version: version() },
    drawer: new Drawer(store, metrics),
    keyring: new Keyring(tokenFileOf(settings.tokens), settings.rate, log),
    replays: new Replays(metrics),
    transit: new Transit(),
    health: new Health(store, mint),
  };
}

async function open(url: string): Promise<Store> {
  try {
    return await openStore(url);
  } catch (error) {
    const { code, message } = error as { code?: unknown; message: string };
    if (code !== 'INVALID_OPTION') throw error;
    throw new InvalidOptionError(`store: ${message}`, { cause: error });
  }
}

/** A store that somebody else will close. */
function notClosed(store: Store): Store {
  return new Proxy(store, {
    get: (target, key) => (key === 'close' ? async () => {} : Reflect.get(target, key, target)),
  });
}

function version(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
}
