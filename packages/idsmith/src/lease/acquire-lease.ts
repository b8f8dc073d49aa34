import { requireSignal } from '../support/abort.js';
import { keepAlive } from '../support/timer.js';
import { acquire } from './acquire.js';
import { Lease } from './lease.js';
import { type LeaseOptions, leaseSettings } from './options.js';
import type { LeaseStore } from './port.js';

/**
 * Acquires a node id of `namespace` that nobody else uses at the same time.
 *
 * @throws LeasesExhaustedError when all node ids are held, or none can be used within `waitFor`
 * @throws ClockError when this clock and the store's differ by more than `maxSkew`
 * @throws StoreError when the store fails
 * @throws the reason of `signal` when it is aborted; nothing is held then
 */
export async function acquireLease(store: LeaseStore, options: LeaseOptions): Promise<Lease> {
  const settings = leaseSettings(store, options);
  const signal = requireSignal(options.signal);
  return new Lease(settings, await keepAlive(settings.timer, acquire(settings, false, signal)));
}
