import {
  acquireLease,
  type Lease,
  type LeaseOptions,
  type LeaseStore,
  type NodeWait,
  type Timer,
} from 'idsmith';
import type { Log } from '../ops/log.js';

/** Timers of leases. They do not keep the process alive: the listening socket does. */
const timer: Timer = {
  after(ms, fn) {
    const handle = setTimeout(fn, ms).unref();
    return () => clearTimeout(handle);
  },
};

/** Acquires a lease whose events are logged. Throws as `acquireLease` does. */
export async function acquireServerLease(store: LeaseStore, options: LeaseOptions, log: Log): Promise<Lease> {
  const { namespace } = options;
  const onWait = (wait: NodeWait) => {
    logWait(wait, log);
    options.onWait?.(wait);
  };
  const lease = await acquireLease(store, { ...options, timer, onWait });
  for (const event of ['empty-namespace', 'reacquired'] as const)
    lease.on(event, () => log.info(`lease ${event}`, { namespace, node: lease.id }));
  lease.on('renewal-failed', (error) => log.error('lease not renewed', { namespace, node: lease.id, error }));
  lease.on('fenced', () => log.error('lease fenced', { namespace, node: lease.id }));
  return lease;
}

/** Logs a wait as a warning, so that it appears at the level `error`, too: a server that waits mints nothing. */
function logWait({ namespace, ms, message }: NodeWait, log: Log): void {
  log.warn('lease waiting', { namespace, seconds: Math.ceil(ms / 1000), message });
}

export function pauseInBackground(ms: number): Promise<void> {
  return new Promise((resolve) => {
    timer.after(ms, resolve, true);
  });
}
