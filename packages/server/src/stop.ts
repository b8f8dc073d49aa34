import { constants } from 'node:os';
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
  if (app !== undefined) log.info('closed');

  async function attempt(what: string, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      log.error(`${what} not closed`, { error });
    }
  }
}

/**
 * Resolves at the first SIGTERM or SIGINT from now on, which then no longer end the process by themselves. The second one ends
 * it at once.
 */
export function firstSignal(): Promise<void> {
  return new Promise((resolve) => {
    let isFirst = true;
    for (const signal of ['SIGTERM', 'SIGINT'] as const)
      process.on(signal, () => {
        if (!isFirst) process.exit(128 + constants.signals[signal]);
        isFirst = false;
        resolve();
      });
  });
}
