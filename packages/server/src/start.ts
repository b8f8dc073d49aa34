import { createRequire } from 'node:module';
import process from 'node:process';
import { InvalidOptionError, type Store } from 'idsmith';
import { requireKnown } from 'idsmith/internal';
import { guardOf } from './auth/guard.js';
import { completeSettings } from './config/read-settings.js';
import type { Settings } from './config/settings.js';
import { buildApp } from './http/app.js';
import { Assets, assetsFolder } from './http/assets.js';
import { listen, requireLoopback } from './http/listen.js';
import { jsonLines, type LogSink, lineWriter, makeLog } from './ops/log.js';
import { type Logger, loggerSink } from './ops/logger.js';
import { allRoutes } from './routes/all-routes.js';
import { makeServices, type Services } from './services.js';
import { stopServer } from './stop.js';

/** The parts of a server that a program can supply. */
export interface ServerParts {
  /** A store instead of the one that the settings name. The server does not close it. */
  readonly store?: Store;
  /** Receives the lines of the log. Default: standard error. */
  readonly write?: (line: string) => void;
  /** A logger such as pino's, instead of `write`. The setting `log` still decides what is logged. */
  readonly logger?: Logger;
  /** Sentences about the settings, which the server logs. */
  readonly warnings?: readonly string[];
}

const PARTS: readonly (keyof ServerParts)[] = ['store', 'write', 'logger', 'warnings'];

/** A server that listens. */
export interface RunningServer {
  /** The address, such as `http://127.0.0.1:7600`. */
  readonly url: string;
  /** Finishes open requests, returns unused ids, releases leases and closes the store. Idempotent. */
  close(): Promise<void>;
  /** The same as `close()`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts a server. Missing settings have their defaults.
 *
 * @throws InvalidOptionError naming the wrong setting
 * @throws StoreError if the store cannot be reached
 */
export async function startServer(
  given: Partial<Settings> = {},
  parts: ServerParts = {},
): Promise<RunningServer> {
  const { app, services, close } = await prepareServer(given, parts);
  try {
    const url = await listen(app, services.settings);
    const { tokens, minter, log, settings } = services;
    const [store] = settings.store.split(':', 1);
    const nodes = minter.leases.map(({ namespace, node }) => ({ namespace, node }));
    log.info('listening', {
      url,
      version: version(),
      tokens: tokens.isRequired,
      store: parts.store ? 'given' : store,
      nodes,
    });
    return { url, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Makes a server that has everything but an address. Throws as {@link startServer} does. */
export async function prepareServer(given: Partial<Settings>, parts: ServerParts) {
  const settings = completeSettings(given);
  requireKnown('the parts of the server', parts, PARTS);
  const log = makeLog(settings.log, sinkOf(parts));
  for (const message of parts.warnings ?? []) log.warn('odd setting', { message });
  const assets = new Assets(assetsFolder(settings.assets));
  const services = await makeServices(settings, log, version(), parts.store);
  const { tokens } = services;
  try {
    await prepare(services);
    const routes = allRoutes({ ...services, version: version() }, assets);
    const app = buildApp(routes, {
      ...services,
      assets,
      guard: (route) => guardOf(route, tokens, settings.origin),
    });
    let closed: Promise<void> | undefined;
    const close = () => {
      closed ??= stopServer(app, services);
      return closed;
    };
    return { app, services, close };
  } catch (error) {
    await stopServer(undefined, services);
    throw error;
  }
}

function sinkOf({ logger, write }: ServerParts): LogSink {
  if (logger === undefined) return jsonLines(write ?? lineWriter(process.stderr));
  if (write === undefined) return loggerSink(logger);
  throw new InvalidOptionError('the parts of the server: give a logger or write, not both');
}

/** Reads the tokens, checks the host and the store, and acquires leases. */
async function prepare({
  settings,
  tokens,
  health,
  minter,
  history,
  keptHistory,
  watch,
  leaseWatch,
}: Services): Promise<void> {
  requireHistoryPlace(settings, keptHistory !== undefined);
  await tokens.open();
  if (tokens.size === 0) await requireLoopback(settings.host);
  // A store that cannot be reached is better reported now than by every request.
  await health.ping();
  await keptHistory?.open();
  await minter.start();
  if (settings.history === 'off') return;
  for (const each of [history, watch, leaseWatch]) each.start();
}

function requireHistoryPlace({ history, historyFile, historyStore }: Settings, isKept: boolean): void {
  if (historyFile === '' && historyStore === '') return;
  const setting = historyFile === '' ? 'historyStore' : 'historyFile';
  if (history === 'off')
    throw new InvalidOptionError(
      `${setting}: there is nothing to keep with history off; leave one of them out`,
    );
  if (historyFile !== '' && historyStore !== '')
    throw new InvalidOptionError(
      'historyStore: the history is kept in historyFile already; leave one of them out',
    );
  if (!isKept)
    throw new InvalidOptionError(
      'historyStore: the store of this server is no SQL database; keep the history in a file, with historyFile',
    );
}

function version(): string {
  return createRequire(import.meta.url)('@idsmith/server/package.json').version;
}
