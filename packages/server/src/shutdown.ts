import process from 'node:process';
import type { FastifyInstance } from 'fastify';
import type { Services } from './services.js';

/**
 * Ends a server: accepts nobody new, finishes requests, gives back the ends of blocks, releases leases, closes the store. What
 * fails on the way is told, and does not keep the rest from being done.
 *
 * @param app may be missing if it was never made
 */
export async function closeServer(app: FastifyInstance | undefined, services: Services): Promise<void> {
  const { settings, health, keyring, drawer, mint, keys, store, metrics, log } = services;
  health.isClosing = true;
  keyring.close();
  if (app !== undefined) {
    // Those who neither go on nor leave.
    const timer = setTimeout(() => app.server.closeAllConnections(), settings.grace);
    await attempt('requests', () => app.close());
    clearTimeout(timer);
  }
  await attempt('blocks', () => drawer.close());
  await attempt('leases', () => mint.close());
  await attempt('shards', () => keys.close());
  await attempt('store', () => store.close());
  metrics.close();
  log.info('closed');

  async function attempt(what: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      log.error(`${what} not closed`, { error });
    }
  }
}

/**
 * Waits for SIGTERM or SIGINT, and ends the server. A second signal ends the process at once.
 *
 * @returns when all is over
 */
export async function untilSignal(server: { close(): Promise<void> }): Promise<void> {
  const signals = ['SIGTERM', 'SIGINT'] as const;
  await new Promise<void>((resolve) => {
    for (const signal of signals) process.once(signal, () => resolve());
  });
  for (const [signal, number] of [
    ['SIGTERM', 15],
    ['SIGINT', 2],
  ] as const)
    process.once(signal, () => process.exit(128 + number));
  await server.close();
}
