import type { FastifyInstance } from 'fastify';
import { drain } from './http/drain.js';
import type { Services } from './services.js';

/**
 * Stops a server: accepts no new connections, finishes open requests, returns unused ids, releases leases and closes the store.
 * A step that fails is logged, and the next steps still run.
 *
 * @param app `undefined` if the start failed before the HTTP server was built
 */
export async function stopServer(app: FastifyInstance | undefined, services: Services): Promise<void> {
  const { settings, health, keyring, connections, sequences, minter, keys, store, metrics, log } = services;
  health.isClosing = true;
  keyring.close();
  if (app !== undefined) {
    await attempt('connections', () => drain(connections, settings.grace));
    await attempt('requests', () => app.close());
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
