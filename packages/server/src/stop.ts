import type { FastifyInstance } from 'fastify';
import { StoreError } from 'idsmith';
import { inTime } from './ops/in-time.js';
import type { Services } from './services.js';

/** The bounds of the time limit of each step with the store, ms. Between them, the limit is the grace period. */
const [MIN_LIMIT, MAX_LIMIT] = [1000, 5000];

/**
 * Stops a server: accepts no new connections, finishes open requests, returns unused ids, releases leases and closes the store.
 * A step that fails, or that takes too long because the store hangs, is logged with what was not released, and the next steps
 * still run. Leases that were not released expire, and ids that were not returned are gaps.
 *
 * @param app `undefined` if the start failed before the HTTP server was built
 */
export async function stopServer(app: FastifyInstance | undefined, services: Services): Promise<void> {
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
    attempt('store not closed', {}, store.close()),
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
