import { createRequire } from 'node:module';
import process from 'node:process';
import type { FastifyInstance } from 'fastify';
import { InvalidOptionError, type Store, StoreError } from 'idsmith';
import { requireKnown } from 'idsmith/internal';
import { guardOf } from './auth/guard.js';
import { completeSettings } from './config/read-settings.js';
import type { Settings } from './config/settings.js';
import { buildApp } from './http/app.js';
import { Assets, assetsFolder } from './http/assets.js';
import { keepTicksFast, listen, requireLoopback } from './http/make-server.js';
import { inTime } from './ops/in-time.js';
import { jsonLines, type Logger, type LogSink, lineWriter, loggerSink, makeLog } from './ops/log.js';
import { allRoutes } from './routes/all-routes.js';
import { makeServices, type Services } from './services.js';

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
  keepTicksFast();
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

/** The bounds of the time limit of each step with the store, ms. Between them, the limit is the grace period. */
const [MIN_LIMIT, MAX_LIMIT] = [1000, 5000];

/**
 * Stops a server: accepts no new connections, finishes open requests, returns unused ids, releases leases and closes the store.
 * A step that fails, or that takes too long because the store hangs, is logged with what was not released, and the next steps
 * still run. Leases that were not released expire, and ids that were not returned are gaps.
 *
 * @param app `undefined` if the start failed before the HTTP server was built
 */
async function stopServer(app: FastifyInstance | undefined, services: Services): Promise<void> {
  const { settings, health, tokens, connections, sequences, minter, ids, keys, store, metrics, log } =
    services;
  const limit = Math.min(MAX_LIMIT, Math.max(MIN_LIMIT, settings.grace));
  health.isClosing = true;
  tokens.close();
  for (const each of [services.history, services.watch, services.leaseWatch]) each.close();
  if (app !== undefined) {
    await connections.drain(settings.grace);
    await attempt('requests not closed', {}, app.close());
  }
  // After the last request, and before the store is left: what is kept has everything that this server has seen.
  if (services.keptHistory) await attempt('history not written', {}, services.keptHistory.close());
  const closing = sequences.closeAll();
  const leases = minter.releaseAll();
  // Ends what is left: acquisitions under way. The steps below tell of failures by name.
  ids.close().catch(() => {});
  await Promise.all([
    attempt('blocks not returned', { sequences: closing.names }, closing.ended),
    ...leases.map(({ lease: { namespace, node }, released }) =>
      attempt('lease not released', { namespace, node }, released),
    ),
  ]);
  await Promise.all([
    attempt('shards not closed', {}, keys.close()),
    ...(services.ownsStore ? [attempt('store not closed', {}, store.close())] : []),
  ]);
  metrics.close();
  if (app !== undefined) log.info('closed');

  async function attempt(event: string, fields: object, work: PromiseLike<unknown>): Promise<void> {
    const hung = new StoreError(`no answer within ${limit} ms`, { reason: 'TIMEOUT' });
    try {
      const isOver = await inTime(
        Promise.resolve(work).then(() => true),
        limit,
      );
      if (!isOver) log.error(event, { ...fields, error: hung });
    } catch (error) {
      log.error(event, { ...fields, error });
    }
  }
}
