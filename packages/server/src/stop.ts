import type { FastifyInstance } from 'fastify';
import type { Services } from './services.js';

/**
 * Stops a server: accepts no new connections, finishes open requests, returns unused ids, releases leases and closes the store.
 * A step that fails is logged, and the next steps still run.
 *
 * @param app `undefined` if the start failed before the HTTP server was built
 */
export async function stopServer(app: FastifyInstance | undefined, services: Services): Promise<void> {
  const { settings, health, keyring, sequences, minter, keys, store, metrics, log } = services;
  health.isClosing = true;
  keyring.close();
  if (app !== undefined) {
    // Connections that are still open after the grace period are cut.
    const timer = setTimeout(() => app.server.closeAllConnections(), settings.grace);
    await attempt('requests', () => app.close());
    clearTimeout(timer);
  }
  await attempt('blocks', () => sequences.close());
  await attempt('leases', () => minter.close());
  await attempt('shards', () => keys.close());
  await attempt('store', () => store.close());
  metrics.close();
  if (app !== undefined) log.info('closed');

  async function attempt(what: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      log.error(`${what} not closed`, { error });
    }
  }
}
