import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { InvalidOptionError, type Store } from 'idsmith';
import { guardOf } from './auth/guard.js';
import { requireKnown } from './config/known-names.js';
import { completeSettings } from './config/read-settings.js';
import type { Settings } from './config/settings.js';
import { buildApp } from './http/app.js';
import { Assets } from './http/assets.js';
import { assetsFolder } from './http/console-folder.js';
import { listen, requireLoopback } from './http/listen.js';
import { jsonLines, type LogSink, makeLog, writeToStderr } from './ops/log.js';
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
  const settings = completeSettings(given);
  requireKnown('the parts of the server', parts, PARTS);
  const log = makeLog(settings.log, sinkOf(parts));
  for (const message of parts.warnings ?? []) log.warn('odd setting', { message });
  const assets = new Assets(assetsFolder(settings.assets));
  const services = await makeServices(settings, log, parts.store);
  const { keyring } = services;
  let app: FastifyInstance | undefined;
  try {
    await prepare(services);
    const routes = allRoutes({ ...services, version: version() }, assets);
    app = buildApp(routes, {
      ...services,
      assets,
      guard: (route) => guardOf(route, keyring, settings.origin),
    });
    const url = await listen(app, settings);
    log.info('listening', { url, tokens: keyring.isRequired });
    let closed: Promise<void> | undefined;
    const close = () => {
      closed ??= stopServer(app, services);
      return closed;
    };
    return { url, close, [Symbol.asyncDispose]: close };
  } catch (error) {
    await stopServer(app, services);
    throw error;
  }
}

function sinkOf({ logger, write }: ServerParts): LogSink {
  if (logger === undefined) return jsonLines(write ?? writeToStderr);
  if (write === undefined) return loggerSink(logger);
  throw new InvalidOptionError('the parts of the server: give a logger or write, not both');
}

/** Reads the tokens, checks the host and the store, and acquires leases. */
async function prepare({ settings, keyring, health, minter }: Services): Promise<void> {
  await keyring.open();
  if (keyring.size === 0) await requireLoopback(settings.host);
  // A store that cannot be reached is better reported now than by every request.
  await health.ping();
  await minter.start();
}

function version(): string {
  return JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
}
